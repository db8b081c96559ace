"""After steps through the service's HTTP interface on a real chain, the service, the chain and the indexer agree."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from tests.support.people import ERRORS

from holdfast.chain.bundler import Bundler
from holdfast.chain.entry_points import V07
from holdfast.chain.rpc import RpcClient
from holdfast.wire.encoding import to_base64url, to_hex
from holdfast.wire.keccak import alias_hash, did_hash
from holdfast.world.anvil import CHAIN_ID
from holdfast.world.processes import free_port
from holdfast.world.service_process import start_service

if TYPE_CHECKING:
    from holdfast.world.local_world import LocalWorld

pytestmark = pytest.mark.asyncio(loop_scope="session")


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
            assert answer.status == 200, await answer.text()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def service(world, tmp_path_factory):
    settings = {"MAX_REGISTRATIONS_PER_IP": "1000", "HOLDFAST_REGISTRATION_PROOF": "required"}
    return Service(await start_service(world, tmp_path_factory.mktemp("service"), free_port(), settings), world)


@pytest.fixture
def person(service, entry_point, newcomer):
    """A person whose operations go through the service's bundler proxy."""
    rpc = RpcClient(f"{service.url}/api/bundler", service.world.transport, batches=False)
    bundler = Bundler(rpc, entry_point=entry_point.address, chain_id=CHAIN_ID, errors=ERRORS)
    return replace(newcomer(), bundler=bundler)


async def test_service_chain_and_indexer_agree(service, entry_point, person):
    predicted = await service.get("/api/accounts/predict", pubKeyX=hex(person.key.x), pubKeyY=hex(person.key.y))
    assert predicted == {"address": person.account}
    claim = {"handle": person.alias, "channel": "handle", "did": person.key.did}
    await service.post("/api/sessions", claim)
    receipt = await person.register()
    credential = to_base64url(did_hash(person.key.did))
    proof = {"txHash": to_hex(receipt.transaction_hash), "smartAccount": person.account}
    await service.post("/api/dids", {"credentialId": credential, **claim, **proof})
    found = await service.get("/api/dids/lookup", credentialId=credential)
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
    prefix, transaction = "/api/indexer/api", to_hex(receipt.transaction_hash)
    async with asyncio.timeout(60):
        while not (did := await service.get(f"{prefix}/dids/{person.key.did}"))["found"]:
            await asyncio.sleep(0.1)
    assert (did["did_hash"], did["controller"].lower()) == (to_hex(did_hash(person.key.did)), person.account.lower())
    assert (did["active"], did["metadata_cid"]) == (True, "bafy")
    assert (did["block_number"], did["tx_hash"]) == (str(receipt.block_number), transaction)
    alias = await service.get(f"{prefix}/aliases/{person.alias}")
    assert (alias["alias_hash"], alias["did_hash"]) == (to_hex(alias_hash(person.alias)), did["did_hash"])
    account = await service.get(f"{prefix}/accounts/{person.account}")
    assert (account["account_address"].lower(), account["tx_hash"]) == (person.account.lower(), transaction)
