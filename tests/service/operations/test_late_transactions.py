"""A registration that states no transaction gets one later: only one that the chain shows to be its DID's own."""

import pytest
from aiohttp import web
from tests.support.api import MAIL, OTHER_DID, error_of
from tests.support.registration_receipts import CONTROLLER, TX, chain_at, receipt
from tests.support.upstreams import rpc_results, upstream

from holdfast.wire.requests import NO_TRANSACTION

REFUSED = (409, "credential_already_registered")


@pytest.fixture
async def chain(make_api):
    async with upstream() as rpc:
        api = make_api(rpc_url=rpc.url, confirmation_depth="12")
        assert (await api.register(txHash=NO_TRANSACTION)).status_code == 200
        await api.service.maintenance.confirm_registrations()
        rpc.answer = chain_at(60, receipt(alias="ann"))
        yield api, rpc


async def stored(api, credential="cred-1"):
    record = (await api.get("/api/dids/lookup", credentialId=credential)).json()
    return record["txHash"], record["blockNumber"], record["smartAccount"]


UNHARMED = (NO_TRANSACTION, None, None)


async def test_a_transaction_that_proves_the_registration_is_recorded_and_confirms_it(chain):
    api, _ = chain
    answer = await api.register(txHash=TX, blockNumber=7, smartAccount=CONTROLLER)
    assert answer.status_code == 200
    assert answer.json() == {"ok": True, "identifier": "ann", "channel": "handle", "txHash": TX}
    assert await stored(api) == (TX, 42, CONTROLLER)
    assert await api.service.maintenance.confirm_registrations() == {"pending": 0, "confirmed": 0, "refused": 0}
    assert error_of(await api.register(txHash=TX)) == REFUSED, "as any repeated registration"


@pytest.mark.parametrize("answer", [
    chain_at(60, None), chain_at(53, receipt()), chain_at(60, receipt(OTHER_DID)), lambda *_: web.Response(status=500),
], ids=["no receipt", "not deep enough", "another DID", "the chain fails"])  # fmt: skip
async def test_what_does_not_prove_it_leaves_it_as_it_is(chain, answer):
    api, rpc = chain
    rpc.answer = answer
    assert error_of(await api.register(txHash=TX)) == REFUSED
    assert await stored(api) == UNHARMED
    for _ in range(3):
        api.clock.now += 86400
        assert (await api.service.maintenance.confirm_registrations())["refused"] == 0
    rpc.answer = chain_at(60, receipt(alias="ann"))
    assert (await api.register(txHash=TX)).status_code == 200, "its own DID can always post again"


@pytest.mark.parametrize("changed", [
    {"txHash": "0xabc"}, {"txHash": NO_TRANSACTION}, {"smartAccount": "0x" + "66" * 20}, {"did": OTHER_DID},
    {"identifier": "bob"},
], ids="-".join)  # fmt: skip
async def test_a_stranger_who_knows_the_credential_does_no_harm(chain, changed):
    api, rpc = chain
    if "did" in changed:
        rpc.answer = chain_at(60, receipt(OTHER_DID))
    assert error_of(await api.register(**{"txHash": TX, **changed})) == REFUSED
    assert await stored(api) == UNHARMED
    assert (await api.get("/api/aliases/check", alias="bob")).json() == {"available": True}


async def test_an_account_that_the_registration_stated_must_be_the_chains_and_the_chain_must_show_the_owner(chain):
    """Anyone can register a `did:web` on the chain, and would name an account of their own."""
    api, rpc = chain
    fields = {"credentialId": "web", "identifier": "page", "did": "did:web:ann.example"}
    await api.register(**fields, txHash=NO_TRANSACTION)
    rpc.answer = chain_at(60, receipt(fields["did"]))
    assert error_of(await api.register(**fields, txHash=TX, smartAccount=CONTROLLER)) == REFUSED
    assert await stored(api, "web") == UNHARMED
    rpc.answer = chain_at(60, receipt())
    for credential, account in (("cred-2", "0x" + "66" * 20), ("cred-3", CONTROLLER)):
        await api.register(credentialId=credential, txHash=NO_TRANSACTION, smartAccount=account)
    assert error_of(await api.register(credentialId="cred-2", txHash=TX)) == REFUSED
    assert (await api.register(credentialId="cred-3", txHash=TX)).status_code == 200
    assert await stored(api, "cred-3") == (TX, 42, CONTROLLER)
    assert (await api.register(credentialId="cred-2", txHash=TX, smartAccount=CONTROLLER)).status_code == 200
    assert await stored(api, "cred-2") == (TX, 42, CONTROLLER)


async def test_an_address_needs_no_second_code_and_a_registration_that_states_a_transaction_keeps_it(chain):
    api, rpc = chain
    fields = {"credentialId": "mail", "identifier": MAIL, "channel": "email"}
    await api.register(**fields, txHash=NO_TRANSACTION, attestation=await api.attested())
    rpc.answer = chain_at(60, receipt(OTHER_DID))
    assert error_of(await api.register(**fields, txHash=TX)) == (403, "attestation_required")
    rpc.answer = chain_at(60, receipt())
    assert (await api.register(**fields, txHash=TX)).status_code == 200
    stated = "0x" + "99" * 32
    await api.register(credentialId="cred-2", txHash=stated)
    asked = len(rpc.requests)
    assert error_of(await api.register(credentialId="cred-2", txHash=TX)) == REFUSED
    assert (await stored(api, "cred-2"))[0] == stated
    assert len(rpc.requests) == asked, "and the chain is not asked"


async def test_where_proof_is_required_the_refusals_stay(make_api):
    async with upstream() as rpc:
        api = make_api(rpc_url=rpc.url)
        await api.register(txHash=NO_TRANSACTION)
        api = make_api(rpc_url=rpc.url, registration_proof="required")
        rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt(OTHER_DID)})
        assert error_of(await api.register(txHash=TX)) == (403, "registration_unproven")
        assert await stored(api) == UNHARMED
        rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
        assert (await api.register(txHash=TX)).status_code == 200
        assert await stored(api) == (TX, 42, None)
