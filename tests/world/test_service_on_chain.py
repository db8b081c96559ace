"""After steps through the service's HTTP interface on a real chain, the service, the chain and the indexer agree."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from tests.support.people import ERRORS
from tests.support.soak import cases

from holdfast.chain.bundler import Bundler
from holdfast.chain.contracts import ADDRESSES, predict_account
from holdfast.chain.entry_points import ENTRY_POINTS, V07
from holdfast.chain.rpc import RpcClient
from holdfast.wire.encoding import to_base64url, to_hex
from holdfast.wire.keccak import alias_hash, did_hash
from holdfast.world.anvil import CHAIN_ID
from holdfast.world.processes import free_port
from holdfast.world.service_process import start_service

if TYPE_CHECKING:
    from holdfast.world.local_world import LocalWorld

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_IP_LIMIT = {"MAX_REGISTRATIONS_PER_IP": "1000000", "HOLDFAST_DID_POSTS_PER_ADDRESS_DAY": "1000000"}
INDEXED_WITHIN_S = 60.0
CONFIRMED_WITHIN_S = 120.0


@dataclass(frozen=True)
class Service:
    """A client for the service's HTTP interface, as an application would write it."""

    url: str
    world: LocalWorld

    async def get(self, path, **query):
        async with self.world.http.get(self.url + path, params=query) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def post(self, path, body):
        async with self.world.http.post(self.url + path, json=body) as answer:
            return answer.status, await answer.json()

    async def until(self, path, within_s, good, **query):
        deadline = time.monotonic() + within_s
        while not good(answer := await self.get(path, **query)):
            assert time.monotonic() < deadline, answer
            await asyncio.sleep(0.1)
        return answer


async def serve(world, factory, **settings):
    data = factory.mktemp("service")
    return Service(await start_service(world, data, free_port(), NO_IP_LIMIT | settings), world)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def service(world, tmp_path_factory):
    yield await serve(world, tmp_path_factory, HOLDFAST_REGISTRATION_PROOF="required")


@pytest.fixture
def person(service, entry_point, newcomer):
    """A person whose operations go through the service's bundler proxy."""
    rpc = RpcClient(f"{service.url}/api/bundler", service.world.transport, batches=False)
    bundler = Bundler(rpc, entry_point=entry_point.address, chain_id=CHAIN_ID, errors=ERRORS)
    return replace(newcomer(), bundler=bundler)


def credential_of(person):
    return to_base64url(did_hash(person.key.did))


def record_of(person, receipt, **changed):
    return {
        "credentialId": credential_of(person),
        "handle": person.alias,
        "channel": "handle",
        "did": person.key.did,
        "txHash": to_hex(receipt.transaction_hash),
        "smartAccount": person.account,
        **changed,
    }


async def test_service_chain_and_indexer_agree(service, entry_point, person):
    predicted = await service.get("/api/accounts/predict", pubKeyX=hex(person.key.x), pubKeyY=hex(person.key.y))
    assert predicted == {"address": person.account}
    assert (await service.post("/api/sessions", {"handle": person.alias, "did": person.key.did}))[0] == 200

    receipt = await person.register()

    status, body = await service.post("/api/dids", record_of(person, receipt))
    assert status == 200, body
    found = await service.get("/api/dids/lookup", credentialId=credential_of(person))
    assert (found["did"], found["blockNumber"]) == (person.key.did, receipt.block_number)
    assert found["smartAccount"].lower() == person.account.lower()
    assert await service.get("/api/aliases/check", alias=person.alias) == {"available": False, "did": person.key.did}
    await check_state(service, entry_point, person)
    await check_indexer(service, person, receipt)


async def check_state(service, entry_point, person):
    assert await service.get("/api/accounts/state", account=person.account) == {
        # The contract AccountHelper returns the nonce at EntryPoint v0.7.
        "nonce": "1" if entry_point is V07 else "0",
        "did": to_hex(did_hash(person.key.did)),
        "isActive": True,
        "pubKeyX": f"0x{person.key.x:064x}",
        "pubKeyY": f"0x{person.key.y:064x}",
    }


async def check_indexer(service, person, receipt):
    def found(answer):
        return answer["found"] is True

    block, transaction = str(receipt.block_number), to_hex(receipt.transaction_hash)
    prefix = "/api/indexer/api"
    did = await service.until(f"{prefix}/dids/{person.key.did}", INDEXED_WITHIN_S, found)
    assert (did["did_hash"], did["controller"].lower()) == (to_hex(did_hash(person.key.did)), person.account.lower())
    assert (did["active"], did["metadata_cid"], did["block_number"], did["tx_hash"]) == (
        True,
        "bafy",
        block,
        transaction,
    )
    alias = await service.get(f"{prefix}/aliases/{person.alias}")
    assert (alias["alias_hash"], alias["did_hash"]) == (to_hex(alias_hash(person.alias)), did["did_hash"])
    account = await service.get(f"{prefix}/accounts/{person.account}")
    assert (account["account_address"].lower(), account["tx_hash"]) == (person.account.lower(), transaction)


@pytest.mark.parametrize("salt", ["", "0", "7", "0x7", str(2**256 - 1), hex(2**256 - 1)])
async def test_every_form_of_a_salt_predicts_the_address_of_python(service, newcomer, salt):
    key = newcomer().key
    query = {"pubKeyX": f"{key.x:064x}", "pubKeyY": f"0x{key.y:064x}"} | ({"salt": salt} if salt else {})
    expected = predict_account(key.x, key.y, int(salt or "0", 0))
    assert await service.get("/api/accounts/predict", **query) == {"address": expected}


async def test_a_transaction_that_registers_another_did_is_refused_at_once(service, person, newcomer):
    receipt = await person.register()
    stranger = newcomer()
    status, body = await service.post("/api/dids", record_of(stranger, receipt))
    assert (status, body) == (403, {"error": "registration_unproven"})
    assert await service.get("/api/dids/lookup", credentialId=credential_of(stranger)) == {"found": False}


async def test_contract_set_and_status_describe_this_world(service):
    contracts = await service.get("/api/contracts")
    assert (contracts["chainId"], contracts["entryPoint"]) == (CHAIN_ID, V07.address)
    for field, name in (("didRegistry", "DIDRegistry"), ("appFactory", "AppFactory"), ("sessionSBT", "SessionSBT")):
        assert contracts[field] == ADDRESSES[name]
    status = await service.get("/api/status")
    assert (status["rpc"], status["database"]) == (service.world.chain.rpc_url, "connected")


@pytest.mark.parametrize("world", ["osaka"], indirect=True)
@pytest.mark.parametrize("entry_point", cases({one.version: one for one in ENTRY_POINTS}, ENTRY_POINTS[-1].version))
async def test_the_configured_entry_point_counts_the_nonce(world, entry_point, newcomer, tmp_path_factory):
    """The reported nonce is the one that the next user operation through the configured entry point must have."""
    person = newcomer()
    await person.register()
    here = await serve(world, tmp_path_factory, HOLDFAST_CONTRACT_ENTRY_POINT=entry_point.address)
    other = next(each for each in ENTRY_POINTS if each is not entry_point)
    there = await serve(world, tmp_path_factory, HOLDFAST_CONTRACT_ENTRY_POINT=other.address)
    states = [await each.get("/api/accounts/state", account=person.account) for each in (here, there)]
    assert [state.pop("nonce") for state in states] == ["1", "0"]
    assert states[0] == states[1]


# Confirmation depends on neither the hardfork nor the entry point, and waiting for it is slow, so one case is enough.
@pytest.mark.parametrize("world", ["osaka"], indirect=True)
@pytest.mark.parametrize("entry_point", [V07])
async def test_deferred_registrations_are_confirmed_or_refused_in_the_background(world, newcomer, tmp_path_factory):
    service = await serve(world, tmp_path_factory, HOLDFAST_REGISTRATION_PROOF="deferred")
    person, liar = newcomer(), newcomer()
    receipt = await person.register()
    for somebody in (person, liar):
        assert (await service.post("/api/dids", record_of(somebody, receipt)))[0] == 200
        assert (await service.get("/api/dids/lookup", credentialId=credential_of(somebody)))["found"] is True
    found = await service.until(
        "/api/dids/lookup",
        CONFIRMED_WITHIN_S,
        lambda answer: answer.get("blockNumber") == receipt.block_number,
        credentialId=credential_of(person),
    )
    assert found["did"] == person.key.did
    # The transaction to which the other registration refers registers another person's DID.
    await service.until(
        "/api/dids/lookup",
        CONFIRMED_WITHIN_S,
        lambda answer: answer == {"found": False},
        credentialId=credential_of(liar),
    )
