"""confirm_registrations, expire and HOLDFAST_REGISTRATION_PROOF, with receipts from a JSON-RPC endpoint."""

import pytest
from aiohttp import web
from tests.support.api import DID, MAIL, OTHER_DID, error_of
from tests.support.registration_receipts import CONTROLLER, TX, chain_at, receipt, word
from tests.support.upstreams import rpc_results, upstream

from holdfast.wire.keccak import did_of_key
from holdfast.wire.requests import NO_TRANSACTION


@pytest.fixture
async def chain(make_api):
    async with upstream() as rpc:
        yield make_api(rpc_url=rpc.url), rpc


async def lookup(api):
    return (await api.get("/api/dids/lookup", credentialId="cred-1")).json()


async def test_a_receipt_with_the_event_confirms_and_fills_the_block_in(chain):
    api, rpc = chain
    await api.register(txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert await api.service.maintenance.confirm_registrations() == {"pending": 0, "confirmed": 1, "refused": 0}
    assert (await lookup(api))["blockNumber"] == 42
    assert (await api.service.maintenance.confirm_registrations())["confirmed"] == 0


async def test_another_dids_event_refuses_at_once(chain, caplog):
    api, rpc = chain
    await api.register(txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt(OTHER_DID)})
    assert (await api.service.maintenance.confirm_registrations())["refused"] == 1
    assert await lookup(api) == {"found": False}
    assert [record.why for record in caplog.records] == ["another_did"] and DID not in caplog.text
    assert (await api.register(txHash="0x2")).status_code == 200, "the holder may register again"


@pytest.mark.parametrize(
    "answer",
    [None, receipt(registry="0x" + "11" * 20), receipt(status="0x0"), receipt(event="0x" + "22" * 32)],
    ids=["no receipt", "another registry", "failed", "another event"],
)
async def test_what_does_not_register_is_refused_after_a_day(chain, answer):
    api, rpc = chain
    await api.register(txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": answer})
    api.clock.now += 86399
    assert (await api.service.maintenance.confirm_registrations())["pending"] == 1
    assert (await lookup(api))["found"] is True
    api.clock.now += 1
    assert (await api.service.maintenance.confirm_registrations())["refused"] == 1
    assert await lookup(api) == {"found": False}


async def test_a_registration_without_a_transaction_stays_at_a_service_without_a_bundler(chain):
    api, rpc = chain
    await api.register(txHash=NO_TRANSACTION)
    await api.register(identifier="bob", credentialId="cred-2", did=OTHER_DID, txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": None})
    for _ in range(3):
        api.clock.now += 86400
        await api.service.maintenance.confirm_registrations()
    assert (await lookup(api))["txHash"] == NO_TRANSACTION
    assert (await api.get("/api/dids/lookup", credentialId="cred-2")).json() == {"found": False}, "it stated one"
    assert NO_TRANSACTION.encode() not in b"".join(request[3] for request in rpc.requests)


async def test_a_registration_without_a_transaction_has_a_day_at_a_service_with_a_bundler(make_api):
    async with upstream() as rpc:
        api = make_api(rpc_url=rpc.url, bundler_url=rpc.url)
        rpc.answer = rpc_results({"eth_getTransactionReceipt": None})
        await api.register(txHash=NO_TRANSACTION)
        api.clock.now += 86400
        assert (await api.service.maintenance.confirm_registrations())["refused"] == 1
        assert await lookup(api) == {"found": False}


async def test_a_chain_out_of_reach_refuses_nobody(api):
    await api.register(txHash=TX)
    api.clock.now += 10 * 86400
    assert (await api.service.maintenance.confirm_registrations())["refused"] == 0
    assert (await lookup(api))["found"] is True


async def test_a_hash_that_is_none_waits_its_day_out(chain):
    api, _ = chain
    await api.register(txHash="0xabc")
    assert (await api.service.maintenance.confirm_registrations())["pending"] == 1
    assert (await lookup(api))["found"] is True


async def test_many_registrations_are_settled_in_one_turn_and_few_requests(chain):
    api, rpc = chain
    for number in range(230):
        await api.register(identifier=f"n{number}", credentialId=f"c{number:03}", txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert (await api.service.maintenance.confirm_registrations())["confirmed"] == 230
    assert len(rpc.requests) < 40


async def test_expire_removes_what_is_over(api):
    await api.register(identifier="ann@example.com", channel="email", attestation=await api.attested())
    assert await api.service.maintenance.expire() == {"removed": 0, "hidden": 0}
    api.clock.now += 2 * 86400
    assert await api.service.maintenance.expire() == {"removed": 5, "hidden": 0}


async def turns(api, number, every_s=15.0):
    for _ in range(number):
        await api.service.maintenance.confirm_registrations()
        api.clock.now += every_s


def bad(result):
    """Return a handler that responds with `result`, but with an error for the transaction BAD_TX."""

    def answer(request, body):
        if BAD_TX.encode() in body:
            return web.Response(status=500)
        return rpc_results({"eth_getTransactionReceipt": result, "eth_blockNumber": "0x40"})(request, body)

    return answer


BAD_TX = "0x" + "66" * 32


@pytest.fixture
def no_pauses(monkeypatch):
    monkeypatch.setattr("holdfast.chain.rpc.RETRY_DELAYS_S", ())


@pytest.mark.usefixtures("no_pauses")
async def test_a_row_that_cannot_be_asked_about_stops_no_other(chain):
    """The first registration's receipt cannot be fetched, which must not prevent the others from being confirmed."""
    api, rpc = chain
    await api.register(identifier="eve", credentialId="!", txHash=BAD_TX)
    for name in ("ann", "bob", "cat"):
        await api.register(identifier=name, credentialId=name, txHash=TX)
    rpc.answer = bad(receipt())
    assert await api.service.maintenance.confirm_registrations() == {"pending": 1, "confirmed": 3, "refused": 0}


@pytest.mark.usefixtures("no_pauses")
async def test_a_row_that_cannot_be_asked_about_is_refused_after_a_day_all_the_same(chain):
    api, rpc = chain
    await api.register(txHash=BAD_TX)
    rpc.answer = bad(None)
    api.clock.now += 86399
    assert (await api.service.maintenance.confirm_registrations())["pending"] == 1
    api.clock.now += 1
    assert (await api.service.maintenance.confirm_registrations())["refused"] == 1
    assert await lookup(api) == {"found": False}


async def test_what_never_comes_is_asked_about_more_and_more_rarely(chain):
    api, rpc = chain
    await api.register(txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": None})
    await turns(api, 40)
    assert len(rpc.requests) == 6, "after 0, 15, 45, 105, 225 and 465 seconds"
    await turns(api, 25, every_s=3600)
    assert len(rpc.requests) < 32
    assert await lookup(api) == {"found": False}


async def test_a_flood_of_one_identifier_makes_nobody_wait(chain):
    """The identifier has as many rows as were possible before the limit existed; an honest person's rows come last."""
    api, rpc = chain
    await api.register(credentialId="first", txHash="0x" + "01" * 32)
    store = api.service.store
    await store._writer.write(
        lambda connection: connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
            " INSERT INTO credentials (credential, identifier_id, identifier, channel, did, tx_hash, created_at,"
            " ask_at, confirmation, in_audit, signed) SELECT 'flood' || i, 1, 'ann', 'handle', ?, '0x' || printf('%064x', i),"
            " 1700000000, 1700000000, 'pending', 1, 0 FROM n",
            (OTHER_DID,),
        )
    )
    await api.register(identifier="bob", credentialId="honest", txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": lambda tx: receipt() if tx == TX else None})
    assert (await api.service.maintenance.confirm_registrations())["confirmed"] == 1
    assert (await api.get("/api/dids/lookup", credentialId="honest")).json()["blockNumber"] == 42


async def test_strangers_transactions_share_no_batch_with_other_reads(api):
    confirmations = api.service.dids.confirmations
    assert confirmations.chain not in (api.service.accounts.chain, *api.service.balances.chains.values())
    assert confirmations is api.service.maintenance.confirmations


async def test_a_turn_takes_at_most_five_hundred_registrations(api, monkeypatch):
    asked = []

    async def due(_now, limit):
        asked.append(limit)
        return []

    monkeypatch.setattr(api.service.dids.confirmations.store, "due", due)
    await api.service.maintenance.confirm_registrations()
    assert asked == [500]


async def test_a_turn_ends_and_the_next_goes_on(chain, monkeypatch):
    api, rpc = chain
    monkeypatch.setattr("holdfast.service.operations.confirmation.MAX_CONFIRMED_PER_TURN", 3)
    for n in range(5):
        await api.register(identifier=f"ann{n}", credentialId=f"c{n}", txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    turns = [await api.service.maintenance.confirm_registrations() for _ in range(3)]
    assert [turn["confirmed"] for turn in turns] == [3, 2, 0]
    monkeypatch.setattr("holdfast.service.operations.confirmation.CONFIRM_TURN_S", -1.0)
    await api.register(identifier="last", credentialId="last", txHash=TX)
    assert (await api.service.maintenance.confirm_registrations())["confirmed"] == 0, "no time is left"


async def test_the_account_that_was_named_must_be_the_controller(chain):
    api, rpc = chain
    await api.register(txHash=TX, smartAccount="0x" + "66" * 20)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert (await api.service.maintenance.confirm_registrations())["refused"] == 1
    assert (await api.register(txHash=TX, smartAccount=CONTROLLER.upper().replace("X", "x"))).status_code == 200
    assert (await api.service.maintenance.confirm_registrations())["confirmed"] == 1


async def test_the_alias_on_the_chain_must_be_the_handle(chain):
    """A registration for another handle with a person's DID and transaction must not be confirmed."""
    api, rpc = chain
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt(alias="Ann")})
    await api.register(identifier="Ann", credentialId="her", txHash=TX)
    await api.register(identifier="paypal-ann", credentialId="his", txHash=TX)
    assert await api.service.maintenance.confirm_registrations() == {"pending": 0, "confirmed": 1, "refused": 1}
    assert (await api.get("/api/dids/lookup", credentialId="her")).json()["found"] is True
    assert (await api.get("/api/dids/lookup", credentialId="his")).json() == {"found": False}


async def test_an_alias_says_nothing_about_a_mailbox(chain):
    api, rpc = chain
    await api.register(identifier=MAIL, channel="email", attestation=await api.attested(), txHash=TX)
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt(alias="ann")})
    assert (await api.service.maintenance.confirm_registrations())["confirmed"] == 1


X, Y = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
OTHERS_REGISTRY = "0x" + "11" * 20


def accounts(key, account):
    """Return an eth_call handler for an account with this key and for a factory that returns the account's address."""

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
        api = make_api(rpc_url=rpc.url, contract_did_registry=OTHERS_REGISTRY)
        await api.register(did=did, txHash=TX)
        results = {"eth_getTransactionReceipt": receipt(did, registry=OTHERS_REGISTRY)}
        rpc.answer = rpc_results(results | {"eth_call": accounts(key, account)})
        assert (await api.service.maintenance.confirm_registrations())[outcome] == 1


@pytest.fixture
async def deep(make_api):
    async with upstream() as rpc:
        yield make_api(rpc_url=rpc.url, confirmation_depth="12"), rpc


async def test_a_registration_counts_when_enough_blocks_stand_on_it(deep):
    api, rpc = deep
    await api.register(txHash=TX)
    rpc.answer = chain_at(42 + 11, receipt())
    assert await api.service.maintenance.confirm_registrations() == {"pending": 1, "confirmed": 0, "refused": 0}
    api.clock.now += 15
    rpc.answer = chain_at(42 + 12, receipt())
    assert (await api.service.maintenance.confirm_registrations())["confirmed"] == 1


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


async def test_no_day_is_over_for_what_only_lacks_blocks(deep):
    api, rpc = deep
    await api.register(txHash=TX)
    api.clock.now += 2 * 86400
    rpc.answer = chain_at(42 + 1, receipt())
    assert (await api.service.maintenance.confirm_registrations())["pending"] == 1


@pytest.fixture
async def strict(make_api):
    async with upstream() as rpc:
        yield make_api(rpc_url=rpc.url, registration_proof="required"), rpc


@pytest.mark.parametrize("answer", [
    None, receipt(OTHER_DID), receipt(status="0x0"), receipt(registry="0x" + "11" * 20), receipt(alias="bob"),
    receipt(controller="0x" + "c1" * 20),
])  # fmt: skip
async def test_required_proof_refuses_what_does_not_register_this_did(strict, answer):
    api, rpc = strict
    rpc.answer = rpc_results({"eth_getTransactionReceipt": answer})
    assert error_of(await api.register(txHash=TX, smartAccount=CONTROLLER)) == (403, "registration_unproven")
    assert error_of(await api.register(txHash="0xabc")) == (403, "registration_unproven")
    assert (await api.get("/api/sessions/status")).json()["total_registrations"] == 0


async def test_required_proof_accepts_and_confirms_at_once(strict):
    api, rpc = strict
    rpc.answer = rpc_results({"eth_getTransactionReceipt": receipt()})
    assert (await api.register(txHash=TX, blockNumber=7)).status_code == 200
    assert (await lookup(api))["blockNumber"] == 42
    assert (await api.service.maintenance.confirm_registrations())["confirmed"] == 0


async def test_required_proof_without_a_chain_is_502(make_api):
    api = make_api(registration_proof="required")
    assert error_of(await api.register(txHash=TX)) == (502, "rpc_error")
