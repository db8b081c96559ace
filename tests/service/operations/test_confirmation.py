"""confirm_registrations, expire and HOLDFAST_REGISTRATION_PROOF, with receipts from a JSON-RPC endpoint."""

import asyncio

import pytest
from aiohttp import web
from tests.support.api import DID, MAIL, ON_CITUS, OTHER_DID, error_of
from tests.support.curves import GENERATOR
from tests.support.registration_receipts import CONTROLLER, TX, chain_at, receipt, word
from tests.support.store_cases import claims, handle, registration
from tests.support.upstreams import rpc_results, upstream

from holdfast.service.operations import confirmation
from holdfast.wire.keccak import did_of_key
from holdfast.wire.requests import NO_TRANSACTION


@pytest.fixture
async def chain(make_api):
    async with upstream() as rpc:
        yield make_api(rpc_url=rpc.url), rpc


async def lookup(api, credential="cred-1"):
    return (await api.get("/api/dids/lookup", credentialId=credential)).json()


async def turn(api):
    return await api.service.maintenance.confirm_registrations()


def bad(result):
    """Return a handler that responds with `result`, but with an error for the transaction BAD_TX."""

    def answer(request, body):
        if BAD_TX.encode() in body:
            return web.Response(status=500)
        return rpc_results({"eth_getTransactionReceipt": result, "eth_blockNumber": "0x40"})(request, body)

    return answer


BAD_TX = "0x" + "66" * 32


async def test_a_receipt_with_the_event_confirms_and_another_dids_event_refuses_at_once(chain, caplog):
    api, rpc = chain
    await api.register(txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert await turn(api) == {"pending": 0, "confirmed": 1, "refused": 0}
    assert (await lookup(api))["blockNumber"] == 42
    assert (await turn(api))["confirmed"] == 0
    await api.register(credentialId="cred-2", identifier="bob", txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt(OTHER_DID)})
    assert (await turn(api))["refused"] == 1
    assert await lookup(api, "cred-2") == {"found": False}
    assert [record.why for record in caplog.records] == ["another_did"] and DID not in caplog.text
    again = await api.register(credentialId="cred-2", identifier="bob", txHash="0x2")
    assert again.status_code == 200, "the holder may register again"


@pytest.mark.parametrize("changed", [{"transactionHash": BAD_TX}, {"blockHash": BAD_TX}, {"blockNumber": "0x29"}])
@pytest.mark.parametrize(("of", "did"), [("receipt", DID), ("log", DID), ("log", OTHER_DID)])
async def test_a_receipt_that_is_not_of_this_transaction_and_its_block_decides_nothing(chain, did, of, changed):
    api, rpc = chain
    await api.register(txHash=TX)
    honest = receipt(did)
    wrong = {**honest, "logs": [{**honest["logs"][0], **changed}]} if of == "log" else {**honest, **changed}
    rpc.answer = rpc_results({"eth_getTransactionReceipt": wrong, "eth_blockNumber": "0x40"})
    assert await turn(api) == {"pending": 1, "confirmed": 0, "refused": 0}


# chain/test_registrations.py has every receipt that proves nothing.
@pytest.mark.parametrize(
    ("tx", "answer"), [(TX, None), (TX, receipt(status="0x0")), (BAD_TX, None), ("0xabc", None)],
    ids=["no receipt", "failed", "not to be asked about", "no hash"],
)  # fmt: skip
async def test_what_does_not_register_is_refused_after_a_day(chain, tx, answer):
    api, rpc = chain
    await api.register(txHash=tx)
    rpc.answer = bad(answer)
    api.clock.now += 86399
    assert (await turn(api))["pending"] == 1
    api.clock.now += 1
    assert (await turn(api))["refused"] == 1
    assert await lookup(api) == {"found": False}


@pytest.mark.parametrize("bundler", [True, False])
async def test_a_registration_without_a_transaction_stays_at_a_service_without_a_bundler(make_api, bundler):
    async with upstream() as rpc:
        api = make_api(rpc_url=rpc.url, **({"bundler_url": rpc.url} if bundler else {}))
        rpc.answer = rpc_results({"eth_getTransactionReceipt": None})
        await api.register(txHash=NO_TRANSACTION)
        await api.register(identifier="bob", credentialId="cred-2", did=OTHER_DID, txHash=TX)
        for _ in range(3):
            api.clock.now += 86400
            await turn(api)
    assert (await lookup(api))["found"] is not bundler
    assert await lookup(api, "cred-2") == {"found": False}, "it stated one"
    assert bundler or NO_TRANSACTION.encode() not in b"".join(request[3] for request in rpc.requests)


async def test_expire_removes_what_is_over(api):
    await api.register(identifier="ann@example.com", channel="email", attestation=await api.attested())
    removed = 6 if ON_CITUS else 5  # PostgreSQL keeps an emptied window until then
    for days, over in ((0, 0), (3, removed), (0, 0)):
        api.clock.now += days * 86400
        assert await api.service.maintenance.expire() == {"removed": over, "hidden": 0}


async def test_a_chain_out_of_reach_refuses_nobody_and_a_row_that_cannot_be_asked_about_stops_no_other(api, chain):
    await api.register(txHash=TX)
    api.clock.now += 10 * 86400
    assert (await turn(api))["refused"] == 0
    api, rpc = chain
    await api.register(identifier="eve", credentialId="!", txHash=BAD_TX)
    new = (registration(identifier=handle(n), credential_id=n, ip=n, did=DID, tx_hash=TX) for n in map(str, range(230)))
    await asyncio.gather(*(api.service.store.register(row, claims) for row in new))
    rpc.answer = bad(receipt())
    counts = [await turn(api) for _ in range(2)]
    assert sum(each["confirmed"] for each in counts) == 231 and len(rpc.requests) < 80, "many at a time"
    assert (await lookup(api, "!"))["blockNumber"] is None


async def turns(api, number, every_s=15.0):
    for _ in range(number):
        await turn(api)
        api.clock.now += every_s


async def test_what_never_comes_is_asked_about_more_and_more_rarely(chain):
    api, rpc = chain
    await api.register(txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": None})
    await turns(api, 40)
    assert len(rpc.requests) == 6, "after 0, 15, 45, 105, 225 and 465 seconds"
    await turns(api, 25, every_s=3600)
    assert len(rpc.requests) < 32
    assert await lookup(api) == {"found": False}


async def test_a_turn_ends_and_the_next_goes_on(chain, monkeypatch):
    api, rpc = chain
    assert confirmation.MAX_CONFIRMED_PER_TURN == 500
    monkeypatch.setattr(confirmation, "MAX_CONFIRMED_PER_TURN", 3)
    for n in range(5):
        await api.register(identifier=f"ann{n}", credentialId=f"c{n}", txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert [(await turn(api))["confirmed"] for _ in range(3)] == [3, 2, 0]
    monkeypatch.setattr(confirmation, "CONFIRM_TURN_S", -1.0)
    await api.register(identifier="last", credentialId="last", txHash=TX)
    assert (await turn(api))["confirmed"] == 0, "no time is left"
    reads = (api.service.accounts.chain, *api.service.balances.chains.values())
    confirmations = api.service.dids.confirmations
    assert confirmations is api.service.maintenance.confirmations
    assert confirmations.chain not in reads, "strangers' transactions share no batch with them"


@pytest.mark.parametrize(("stated", "outcome"), [
    ({"smartAccount": "0x" + "66" * 20}, "refused"), ({"smartAccount": CONTROLLER}, "confirmed"),
    ({"identifier": "Ann"}, "confirmed"), ({"identifier": "paypal-ann"}, "refused"),
    ({"identifier": MAIL, "channel": "email"}, "confirmed"),
], ids=["another account", "the account", "the alias", "another alias", "a mailbox has no alias"])  # fmt: skip
async def test_account_and_handle_must_be_those_of_the_chain(chain, stated, outcome):
    """A registration for another handle with a person's DID and transaction must not be confirmed."""
    api, rpc = chain
    proof = {"attestation": await api.attested()} if "channel" in stated else {}
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt(alias="Ann")})
    assert (await api.register(txHash=TX, **stated, **proof)).status_code == 200
    assert (await turn(api))[outcome] == 1


X, Y = GENERATOR
OTHERS = "0x" + "11" * 20  # a registry


def accounts(key, account):
    def call(asked, _block):
        if asked["data"] != "0x63ffab31":
            return word(bytes.fromhex(account[2:]))
        return "0x" if key is None else "0x" + "".join(f"{n:064x}" for n in key)

    return call


@pytest.mark.parametrize(
    ("key", "account", "outcome"),
    [((X, Y), CONTROLLER, "confirmed"), (None, CONTROLLER, "refused"), ((Y, X), CONTROLLER, "refused"),
     ((X, Y), "0x" + "77" * 20, "refused")],
    ids=["the DID's own account", "no account", "another key", "a copy that shows the key"],
)  # fmt: skip
async def test_another_registry_does_not_prove_whose_did_it_is(make_api, key, account, outcome):
    did = did_of_key(X, Y)
    async with upstream() as rpc:
        api = make_api(rpc_url=rpc.url, contract_did_registry=OTHERS)
        await api.register(did=did, txHash=TX)
        results = {"eth_getTransactionReceipt": receipt(did, registry=OTHERS)}
        rpc.answer = rpc_results(results | {"eth_call": accounts(key, account)})
        assert (await turn(api))[outcome] == 1


@pytest.fixture
async def deep(chain, make_api):
    _, rpc = chain
    return make_api(rpc_url=rpc.url, confirmation_depth="12"), rpc


async def test_a_registration_counts_when_enough_blocks_stand_on_it(deep):
    api, rpc = deep
    await api.register(txHash=TX)
    api.clock.now += 2 * 86400  # no day is over for what only lacks blocks
    rpc.answer = chain_at(42 + 11, receipt())
    assert await turn(api) == {"pending": 1, "confirmed": 0, "refused": 0}
    api.clock.now += 15
    rpc.answer = chain_at(42 + 12, receipt())
    assert (await turn(api))["confirmed"] == 1


async def test_what_a_reorganisation_takes_away_was_never_confirmed(deep):
    api, rpc = deep
    await api.register(txHash=TX)
    rpc.answer = chain_at(42 + 5, receipt())
    await turns(api, 3)
    rpc.answer = chain_at(42 + 30, None)
    await turns(api, 3)
    assert (await lookup(api))["blockNumber"] is None
    rpc.answer = chain_at(60, receipt(block="0x30"))
    await turns(api, 6, every_s=60)
    assert (await lookup(api))["blockNumber"] == 0x30


@pytest.mark.parametrize(
    "answer", [None, receipt(OTHER_DID), receipt(alias="bob"), receipt(controller="0x" + "c1" * 20)]
)
async def test_required_proof_refuses_what_does_not_register_this_did_and_confirms_at_once(chain, make_api, answer):
    _, rpc = chain
    api = make_api(rpc_url=rpc.url, registration_proof="required")
    rpc.answer = rpc_results({"eth_getTransactionReceipt": answer})
    assert error_of(await api.register(txHash=TX, smartAccount=CONTROLLER)) == (403, "registration_unproven")
    assert (await api.get("/api/sessions/status")).json()["total_registrations"] == 0
    without = make_api(registration_proof="required")
    assert error_of(await without.register(txHash=TX)) == (502, "rpc_error")
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert (await api.register(txHash=TX, blockNumber=7)).status_code == 200
    assert (await lookup(api))["blockNumber"] == 42 and (await turn(api))["confirmed"] == 0
