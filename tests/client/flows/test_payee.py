"""A payment to a DID is sent only if the chain confirms the account that the indexer returns; nothing else is signed."""

from types import SimpleNamespace

import msgspec
import pytest
from tests.support.account_world import ACCOUNT, CONTRACTS, NOTHING, OTHER, OWN, AccountWorld, obeying
from tests.support.fake_transports import FakeTransport
from tests.support.running_service import Coroutines

from holdfast.chain import calls
from holdfast.chain.contracts import predict_account
from holdfast.chain.rpc import RpcClient
from holdfast.client.blocking.loop import run
from holdfast.client.flows.accounts import account_address
from holdfast.client.flows.failures import OperationFailed, PaymentRefused
from holdfast.client.flows.payee import Payee, check_elsewhere, payee_of
from holdfast.client.flows.payment import Payments
from holdfast.client.types import NATIVE, PaymentParams
from holdfast.client.types.service import AccountState, ForeignContracts, IndexerAccount, IndexerDid
from holdfast.wire.client_errors import PluginCallError
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import checksum_address, did_hash
from holdfast.wire.retries import OPERATIONS

THIEF, SALTED = checksum_address(b"\xbb" * 20), predict_account(OWN.x, OWN.y, 7)
WEB = "did:web:example.org"
FOREIGN = msgspec.structs.replace(CONTRACTS, app_factory="0x" + "fa" * 20)
NOT_FROM_KEY = "does not follow from the key"


class World:
    """A fake indexer, the chain's state for each account, and the key and salt with which the factory created it."""

    def __init__(self, states, controller=ACCOUNT, created=None):
        self.named = IndexerDid(found=True, controller=controller, active=True)
        self.states, self.created = states, created or {}

    def indexer_did(self, _did_hash):
        return self.named

    def get_account_state(self, address):
        found = self.states.get(address, NOTHING)
        return found.pop(0) if isinstance(found, list) else found

    def indexer_account(self, address):
        known = address in self.created
        return IndexerAccount(found=known, block_number="5" if known else None)

    def logs(self, method, params):
        (asked,) = params
        wanted = ("eth_getLogs", CONTRACTS.app_factory, "0x5", "0x5")
        assert (method, asked["address"], asked["fromBlock"], asked["toBlock"]) == wanted
        key, salt = self.created[checksum_address(from_hex(asked["topics"][1])[12:])]
        data = to_hex(b"".join(number.to_bytes(32) for number in (key.x, key.y, salt)))
        where = {"blockNumber": "0x5", "blockHash": "0x" + "0b" * 32, "transactionHash": "0x" + "0a" * 32}
        return [{"address": asked["address"], "topics": asked["topics"], "data": data, "logIndex": "0x0", **where}]

    def payee(self, to):
        chain = RpcClient("https://chain.invalid", FakeTransport(self.logs))
        account = SimpleNamespace(contracts=CONTRACTS, chain=Coroutines(SimpleNamespace(chain=lambda: chain)).chain)
        return run(payee_of(Coroutines(self), to, account))


def state(did, key, active=True):
    hashed = to_hex(did_hash(did))
    return AccountState(nonce="1", did=hashed, is_active=active, pub_key_x=hex(key.x), pub_key_y=hex(key.y))


OWN_STATE, CHANGED, STALE = state(OWN.did, OWN), state(OWN.did, OTHER), state(WEB, OWN, active=False)


@pytest.mark.parametrize(
    ("to", "world", "paid"),
    [
        (OWN.did, World({ACCOUNT: OWN_STATE}), ACCOUNT),
        (OWN.did, World({ACCOUNT: CHANGED}, created={ACCOUNT: (OWN, 0)}), ACCOUNT),
        (OWN.did, World({SALTED: OWN_STATE}, SALTED, {SALTED: (OWN, 7)}), SALTED),
        (OWN.did, World({ACCOUNT: [STALE, OWN_STATE]}), ACCOUNT),
        (THIEF.lower(), World({}), THIEF),
        (WEB, World({ACCOUNT: state(WEB, OTHER)}), ACCOUNT),
    ],
    ids=["of the key", "key changed", "another salt", "state from before the registration", "address", "did:web"],
)
def test_a_payee_that_the_chain_confirms(monkeypatch, to, world, paid):
    monkeypatch.setattr("holdfast.client.flows.payee.OPERATIONS", OPERATIONS._replace(state_age_s=0))
    assert world.payee(to) == Payee(paid, None if to.startswith("0x") else to)


def without_the_did(value):
    """Return what names a case in place of the DID, which is another in each process."""
    return "did:new" if value == OWN.did else None


# Earlier registries let a stranger's account register another person's did:new; and an endpoint and an indexer that
# lie together can name the person's key for any address.
@pytest.mark.parametrize(
    ("to", "world", "why"),
    [
        (OWN.did, World({ACCOUNT: CHANGED}), NOT_FROM_KEY),
        (OWN.did, World({SALTED: OWN_STATE}, SALTED), NOT_FROM_KEY),
        *((OWN.did, World({THIEF: state(OWN.did, key)}, THIEF), NOT_FROM_KEY) for key in (OWN, OTHER)),
        *((OWN.did, World({THIEF: OWN_STATE}, THIEF, {THIEF: (key, 0)}), NOT_FROM_KEY) for key in (OWN, OTHER)),
        (OWN.did, World({ACCOUNT: [state(OWN.did, OWN, active=False)] * 2}), "does not confirm"),
        (WEB, World({ACCOUNT: state("did:web:another.example", OTHER)}), "does not confirm"),
    ],
    ids=without_the_did,
)
def test_a_payee_that_the_chain_does_not_confirm(monkeypatch, to, world, why):
    monkeypatch.setattr("holdfast.client.flows.payee.OPERATIONS", OPERATIONS._replace(state_age_s=0))
    with pytest.raises(PaymentRefused, match=why):
        world.payee(to)


@pytest.mark.parametrize(
    ("did", "here", "there", "is_paid"),
    [
        (OWN.did, OWN, NOTHING, True),
        (OWN.did, OWN, OWN_STATE, True),
        (None, OTHER, NOTHING, True),
        (OWN.did, OTHER, NOTHING, False),
        (OWN.did, OTHER, OWN_STATE, False),
        (OWN.did, OWN, CHANGED, False),
    ],
    ids=without_the_did,
)
def test_on_another_chain_only_an_account_with_the_same_key_is_paid(did, here, there, is_paid):
    service = SimpleNamespace(
        get_account_state=lambda _address: state(OWN.did, here), account_state_on=lambda _chain_id, _address: there
    )
    check = check_elsewhere(Coroutines(service), Payee(ACCOUNT, did), 8453, CONTRACTS)
    if is_paid:
        run(check)
    else:
        with pytest.raises(PaymentRefused, match=r"on chain 8453, .* obeys another key"):
            run(check)


@pytest.mark.parametrize(("to", "signs"), [(ACCOUNT, True), (THIEF, False)], ids=["the account", "a thief"])
async def test_other_bytes_than_the_payments_are_not_signed(to, signs):
    signed, noted = [], []

    async def nothing(*_):
        return None

    async def prepared(call):
        return SimpleNamespace(call_data=calls.execute((to, *call[1:])))

    async def sign(operation):
        signed.append(operation)
        return operation

    async def note(row):
        noted.append(row.state)

    contracts = SimpleNamespace(chain_id=84532)
    account = SimpleNamespace(
        contracts=contracts, open=nothing, other_chain=nothing, prepared=prepared, signed=sign,
        hash=lambda _operation: bytes(32), send=lambda _operation: asynchronously(bytes(32)), wait=nothing,
    )  # fmt: skip
    payments = Payments(None, None, account, None, note)
    params = PaymentParams(to=ACCOUNT, amount="5", token=NATIVE, chain_id=84532)
    if signs:
        await payments.pay(params)
    else:
        with pytest.raises(OperationFailed, match="nothing was signed"):
            await payments.pay(params)
    assert (bool(signed), noted) == (signs, ["sent", "confirmed"] if signs else [])


async def asynchronously(value):
    return value


@pytest.mark.parametrize(
    ("name", "bad"), [("amount", "0"), ("amount", "-1"), ("amount", "1.5"), ("amount", str(2**256)), ("token", "DOGE")]
)
async def test_what_cannot_be_a_payment_is_refused(name, bad):
    given = {"to": ACCOUNT, "amount": "5", "token": NATIVE, "chainId": 84532}
    account = SimpleNamespace(open=lambda: asynchronously(None))
    with pytest.raises(ValueError, match=name):
        await Payments(None, None, account, None, None).pay(PaymentParams.from_json({**given, name: bad}))


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
