import random

import pytest
from tests.support.curves import GENERATOR
from tests.support.fake_chain import FACTORY, REGISTRY, FakeChain, text_data, topic, word

from holdfast.chain.contracts import load
from holdfast.chain.values import Log
from holdfast.chain.values import logs as parse_logs
from holdfast.indexer.events import EVENT_KINDS, KIND_NAMES, Decoder
from holdfast.wire.keccak import keccak256

DECODER = Decoder(REGISTRY, FACTORY)
DID = b"\x01" * 32
DID_REGISTERED = bytes.fromhex(topic("DidRegistered(bytes32,address,string)")[2:])
STATUS_CHANGED = bytes.fromhex(topic("DidStatusChanged(bytes32,bool)")[2:])
KEY_CHANGED = bytes.fromhex(topic("PublicKeyChanged(uint256,uint256)")[2:])
ADDRESS = b"\x02" * 20
# Events that the indexer does not need: of the registry, and of an account's terms and permissions.
LEFT_OUT = {"Committed", "ThresholdChanged", "RecoveryTermsChanged"}
LEFT_OUT |= {"PermissionGranted", "PermissionRevoked", "Spent", "EIP712DomainChanged"}
OWNER_ADDED = bytes.fromhex(topic("OwnerAdded(bytes32,bytes,uint48)")[2:])
OWNER_REMOVED = bytes.fromhex(topic("OwnerRemoved(bytes32)")[2:])
RECOVERY_STARTED = bytes.fromhex(topic("RecoveryStarted(uint32,uint48,bytes[])")[2:])


def log(topics, data, address=REGISTRY):
    return Log(address, tuple(topics), bytes.fromhex(data), 7, b"\x03" * 32, b"\x04" * 32, 5)


def abi_events(name):
    return {item["name"]: item for item in load(name).abi if item["type"] == "event"}


def test_the_table_is_the_contracts_own_list_of_events():
    declared = {**abi_events("DIDRegistry"), **abi_events("AppFactory"), **abi_events("VaultAccount")}
    assert set(declared) - LEFT_OUT == KIND_NAMES


@pytest.mark.parametrize("kind", EVENT_KINDS, ids=lambda kind: kind.name)
def test_each_row_is_as_the_contract_declares_it(kind):
    emitters = {"registry": "DIDRegistry", "factory": "AppFactory", "account": "VaultAccount"}
    item = abi_events(emitters[kind.emitter])[kind.name]
    inputs = item["inputs"]
    assert kind.signature == f"{kind.name}({','.join(each['type'] for each in inputs)})"
    assert [each["indexed"] for each in inputs] == [True] * len(kind.indexed) + [False] * len(kind.data)


def test_keys_owners_and_recoveries_name_the_account_and_what_stands_for_the_key():
    """The address that the contract computes from a public key: the last 20 bytes of Keccak-256(X ‖ Y)."""
    account, (x, y) = b"\x0a" * 20, GENERATOR
    signer = x.to_bytes(32) + y.to_bytes(32)
    changed = log([KEY_CHANGED], word(x) + word(y), account)
    added = log([OWNER_ADDED, keccak256(signer)], word(64) + word(0) + word(64) + signer.hex(), account)
    removed = log([OWNER_REMOVED, keccak256(signer)], "", account)
    started = log([RECOVERY_STARTED, bytes(32)], word(9) + word(64) + word(0), account)
    events = [DECODER.events([each])[0] for each in (changed, added, removed, started)]
    assert [event.kind for event in events] == ["PublicKeyChanged", "OwnerAdded", "OwnerRemoved", "RecoveryStarted"]
    assert {(event.account_address, event.owner_address) for event in events} == {(account, None)}
    assert [event.key_owner for event in events] == [*[keccak256(signer)[12:]] * 3, None]


def test_text_that_no_database_would_take_is_made_harmless():
    [event] = DECODER.events([log([DID_REGISTERED, DID, ADDRESS.rjust(32, b"\0")], text_data(b"a\0b\xff"))])
    assert event.metadata_cid == "a\ufffdb\ufffd"


MALFORMED = {
    "no topics": log([], ""),
    "another contract": log([STATUS_CHANGED, DID], word(1), address=b"\x09" * 20),
    "the other contract's event": log([STATUS_CHANGED, DID], word(1), address=FACTORY),
    "too few topics": log([STATUS_CHANGED], word(1)),
    "too many topics": log([STATUS_CHANGED, DID, DID], word(1)),
    "a key change with a topic": log([KEY_CHANGED, DID], word(1) + word(2)),
    "half a key": log([KEY_CHANGED], word(1)),
    "an owner without a key ID": log([OWNER_REMOVED], ""),
    "an owner without data": log([OWNER_ADDED, DID], ""),
    "no data": log([STATUS_CHANGED, DID], ""),
    "a bool of 2": log([STATUS_CHANGED, DID], word(2)),
    "an address of 21 bytes": log([DID_REGISTERED, DID, b"\x01" * 32], text_data(b"x")),
    "a string beyond the data": log([DID_REGISTERED, DID, ADDRESS.rjust(32, b"\0")], word(32) + word(9) + "aa"),
    "a string that begins beyond the data": log([DID_REGISTERED, DID, ADDRESS.rjust(32, b"\0")], word(2**255)),
    "a string of immense length": log([DID_REGISTERED, DID, ADDRESS.rjust(32, b"\0")], word(32) + word(2**256 - 1)),
    "a string without length": log([DID_REGISTERED, DID, ADDRESS.rjust(32, b"\0")], word(32)),
}


@pytest.mark.parametrize("fault", MALFORMED)
def test_a_log_that_is_not_ours_is_left_out(fault):
    good = log([STATUS_CHANGED, DID], word(0))
    assert [event.kind for event in DECODER.events([MALFORMED[fault], good])] == ["DidStatusChanged"]


def test_events_come_in_chain_order_however_they_arrive():
    chain = FakeChain(random.Random(3))
    for _ in range(60):
        chain.mine(3)
    logs = parse_logs([each for block in chain.blocks for each in block.logs])
    events = DECODER.events(logs)
    assert len(events) == chain.ledger.events + chain.ledger.others_changes
    assert chain.ledger.others_changes
    assert DECODER.events(reversed(logs)) == events == sorted(events, key=lambda event: event[:2])
