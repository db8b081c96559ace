import pytest
from tests.support import registration_receipts as receipts
from tests.support.fake_transports import FakeTransport

from holdfast.chain.registrations import (
    ALIAS_REGISTERED,
    ANOTHER_ACCOUNT,
    ANOTHER_ALIAS,
    ANOTHER_DID,
    DID_REGISTERED,
    FAILED,
    NOT_A_HASH,
    NOT_A_REGISTRATION,
    Confirmed,
    Pending,
    Sought,
    confirm_registration,
    judge_registration,
)
from holdfast.chain.rpc import RpcClient
from holdfast.chain.values import Log, Receipt
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import alias_hash, did_hash

DID, OTHER = "did:new:0x" + "1" * 64, "did:new:0x" + "2" * 64
REGISTRY, STRANGER = b"\x01" * 20, b"\x02" * 20
HASH = b"\x09" * 32


CONTROLLER, OTHER_CONTROLLER = b"\xc0" * 20, b"\xc1" * 20


def event(did, *, address=REGISTRY, topic=DID_REGISTERED, topics=3, by=CONTROLLER):
    return Log(address, (topic, did_hash(did), by.rjust(32, b"\x00"))[:topics], b"", 7, HASH, HASH, 0)


def alias_event(alias, did=DID, *, address=REGISTRY):
    topics = (ALIAS_REGISTERED, alias_hash(alias), did_hash(did), CONTROLLER.rjust(32, b"\x00"))
    return Log(address, topics, b"", 7, HASH, HASH, 1)


def receipt(*logs, succeeded=True):
    return Receipt(HASH, 7, HASH, succeeded, 21000, logs)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (None, Pending()),
        (receipt(event(DID)), Confirmed(7, CONTROLLER)),
        (receipt(event(OTHER), event(DID)), Confirmed(7, CONTROLLER)),
        (receipt(event(DID), succeeded=False), FAILED),
        (receipt(), NOT_A_REGISTRATION),
        (receipt(event(OTHER)), ANOTHER_DID),
        (receipt(event(DID, address=STRANGER)), NOT_A_REGISTRATION),
        (receipt(event(DID, topic=b"\x05" * 32)), NOT_A_REGISTRATION),
        (receipt(event(DID, topics=2)), NOT_A_REGISTRATION),
        (receipt(event(OTHER), event(DID, address=STRANGER)), ANOTHER_DID),
    ],
)
def test_the_registrys_event_decides(given, verdict):
    assert judge_registration(given, registry=REGISTRY, sought=Sought(DID)) == verdict


@pytest.mark.parametrize(
    ("account", "verdict"), [(CONTROLLER, Confirmed(7, CONTROLLER)), (OTHER_CONTROLLER, ANOTHER_ACCOUNT)]
)
@pytest.mark.parametrize("spelling", [str, str.upper])
def test_an_account_that_is_named_must_be_the_controller(account, verdict, spelling):
    named = "0x" + spelling(account.hex())
    given = receipt(event(OTHER, by=OTHER_CONTROLLER), event(DID))
    assert judge_registration(given, registry=REGISTRY, sought=Sought(DID, smart_account=named)) == verdict


@pytest.mark.parametrize(
    ("logs", "verdict"),
    [
        ([], Confirmed(7, CONTROLLER)),
        ([alias_event("ann")], Confirmed(7, CONTROLLER)),
        ([alias_event("bob"), alias_event("ann")], Confirmed(7, CONTROLLER)),
        ([alias_event("bob")], ANOTHER_ALIAS),
        ([alias_event("bob", OTHER)], Confirmed(7, CONTROLLER)),
        ([alias_event("bob", address=STRANGER)], Confirmed(7, CONTROLLER)),
    ],
    ids=["none", "its own", "its own too", "another", "another DID's", "another registry's"],
)
def test_an_alias_claimed_for_the_did_must_be_the_handle(logs, verdict):
    given = receipt(event(DID), *logs)
    assert judge_registration(given, registry=REGISTRY, sought=Sought(DID, handle="ann")) == verdict
    assert isinstance(judge_registration(given, registry=REGISTRY, sought=Sought(DID)), Confirmed)


async def confirm(transaction_hash):
    rpc = RpcClient("http://chain.invalid", FakeTransport(lambda _method, _params: receipts.receipt(DID)))
    sought = Sought(DID)
    return await confirm_registration(rpc, transaction_hash, registry=from_hex(receipts.REGISTRY), sought=sought)


async def test_a_receipt_read_over_rpc():
    assert await confirm(receipts.TX) == Confirmed(0x2A, from_hex(receipts.CONTROLLER))


@pytest.mark.parametrize("text", ["", "0x", HASH.hex(), "0x" + "g" * 64, "0x" + "9" * 63, " 0x" + "9" * 64])
async def test_what_is_no_hash_is_refused_without_a_question(text):
    assert await confirm(text) == NOT_A_HASH
