"""What is paid on another chain, what is signed, and whose account pays; vectors/flows/pay_person.json has the payees."""

from contextlib import nullcontext
from types import SimpleNamespace
from unittest.mock import AsyncMock

import msgspec
import pytest
from tests.support.account_world import ACCOUNT, CONTRACTS, NOTHING, OTHER, OWN, AccountWorld, obeying
from tests.support.running_service import Coroutines

from holdfast.chain import calls
from holdfast.chain.account_calls import NOBODY, Permission, spend
from holdfast.chain.account_reads import Granted
from holdfast.chain.two_keys import Transfer, Way
from holdfast.client.blocking.loop import run
from holdfast.client.flows.accounts import account_address
from holdfast.client.flows.failures import OperationFailed, PaymentRefused
from holdfast.client.flows.payee import Payee, check_elsewhere
from holdfast.client.flows.payment import Payments
from holdfast.client.types import NATIVE, PaymentParams
from holdfast.client.types.service import AccountState, ForeignContracts
from holdfast.wire.client_errors import PluginCallError
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import checksum_address, did_hash

SHARED = checksum_address(b"\xcc" * 20)
THIEF = checksum_address(b"\xbb" * 20)
FOREIGN = msgspec.structs.replace(CONTRACTS, app_factory="0x" + "fa" * 20)


def state(key):
    did = to_hex(did_hash(OWN.did))
    return AccountState(nonce="1", did=did, is_active=True, pub_key_x=hex(key.x), pub_key_y=hex(key.y))


def without_the_did(value):
    """Return what names a case in place of the DID, which is another in each process."""
    return "did:new" if value == OWN.did else None


@pytest.mark.parametrize(
    ("did", "here", "there", "is_paid"),
    [
        (OWN.did, OWN, NOTHING, True),
        (OWN.did, OWN, state(OWN), True),
        (None, OTHER, NOTHING, True),
        (OWN.did, OTHER, NOTHING, False),
        (OWN.did, OTHER, state(OWN), False),
        (OWN.did, OWN, state(OTHER), False),
    ],
    ids=without_the_did,
)
def test_on_another_chain_only_an_account_with_the_same_key_is_paid(did, here, there, is_paid):
    service = Coroutines(
        SimpleNamespace(
            get_account_state=lambda _address: state(here), account_state_on=lambda _chain_id, _address: there
        )
    )
    elsewhere = AsyncMock(return_value=SimpleNamespace(chain_id=8453, usdc=None))
    account = account_that([], contracts=CONTRACTS, other_chain=elsewhere)
    shown = PaymentParams(to=ACCOUNT, amount="5", token=NATIVE, chain_id=8453)
    for paid in (
        check_elsewhere(service, Payee(ACCOUNT, did), 8453, CONTRACTS),
        Payments(service, None, account, None, AsyncMock()).pay(shown, called=did),
    ):
        with nullcontext() if is_paid else pytest.raises(PaymentRefused, match=r"on chain 8453, .* obeys another key"):
            run(paid)


def account_that(signs, call_data=calls.execute, **more):
    """An account that appends each operation to `signs` when it signs it."""

    async def prepared(call):
        return SimpleNamespace(call=call, call_data=call_data(call))

    async def signed(operation):
        signs.append(operation)
        return operation

    usual = {"contracts": SimpleNamespace(chain_id=84532), "other_chain": AsyncMock(return_value=None)}
    return SimpleNamespace(
        open=AsyncMock(), move=lambda _there: None, prepared=prepared, signed=signed,
        hash=lambda _operation: bytes(32), send=AsyncMock(return_value=bytes(32)), wait=AsyncMock(), **{**usual, **more},
    )  # fmt: skip


@pytest.mark.parametrize(("to", "signs"), [(ACCOUNT, True), (THIEF, False)], ids=["the account", "a thief"])
async def test_other_bytes_than_the_payments_are_not_signed(to, signs):
    signed, noted = [], []

    async def note(row):
        noted.append(row.state)

    account = account_that(signed, lambda call: calls.execute((to, *call[1:])))
    payments = Payments(None, None, account, None, note)
    params = PaymentParams(to=ACCOUNT, amount="5", token=NATIVE, chain_id=84532)
    if signs:
        await payments.pay(params)
    else:
        with pytest.raises(OperationFailed, match="nothing was signed"):
            await payments.pay(params)
    assert (bool(signed), noted) == (signs, ["sent", "confirmed"] if signs else [])


async def test_where_two_must_sign_a_permission_for_coin_makes_the_payment_that_it_covers():
    permission = Permission(key_id=b"k" * 32, token=NOBODY, allowance=10, period=0, start=0)
    asked, chosen, signed = [], [], []

    async def way(transfer):
        asked.append(transfer)
        return Way("permission", permission=Granted(permission, 0, 10, 0))

    account = account_that([], key=SimpleNamespace(address=SHARED), way=way)
    spender = account_that(signed, lambda call: call[2])
    payments = Payments(None, None, account, None, AsyncMock(), lambda *which: chosen.append(which) or spender)
    await payments.pay(PaymentParams(to=ACCOUNT, amount="5", token=NATIVE, chain_id=84532))
    assert asked == [Transfer(ACCOUNT, 5, NOBODY)]
    assert chosen == [(SHARED, permission.id)]
    assert [it.call for it in signed] == [spend(SHARED, permission, ACCOUNT, 5)]


@pytest.mark.parametrize("keys", [(OWN,), (OTHER, OWN), (OWN, OTHER)])
def test_the_payers_account_follows_from_the_key_of_the_did(keys):
    found = AccountWorld({}, keys).key()
    assert (found.address, found.x) == (ACCOUNT, OWN.x)
    assert [found.is_replaced(it) for it in (NOTHING, obeying(OWN), obeying(OTHER))] == [False, False, True]


@pytest.mark.parametrize(
    ("world", "why"), [(AccountWorld({}, [OTHER]), "no key of its DID"), (AccountWorld({}, curve="secp256k1"), "P-256")]
)
def test_a_vault_without_the_key_of_its_did_has_no_account(world, why):
    with pytest.raises(PluginCallError, match=why):
        world.key()


def test_another_factory_is_taken_only_on_request():
    assert CONTRACTS.checked() is CONTRACTS
    for refused in (FOREIGN.checked, FOREIGN.for_vault):
        with pytest.raises(ForeignContracts, match="may obey another key"):
            refused()
    assert account_address(FOREIGN.checked(foreign=True), OWN.x, OWN.y) != ACCOUNT
