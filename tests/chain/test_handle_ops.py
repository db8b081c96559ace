"""What the entry point's events say of an operation in a transaction."""

from holdfast.chain.abi import encode
from holdfast.chain.contracts import ENTRY_POINT_V07
from holdfast.chain.handle_ops import Handled, handled_in
from holdfast.chain.values import Log, Receipt
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import keccak256

NAME, OTHER = b"n" * 32, b"o" * 32
EVENT = "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)"
REVERT = "UserOperationRevertReason(bytes32,address,uint256,bytes)"
REASON = bytes.fromhex("08c379a0") + encode(["string"], ["no"])


def log(event, name, data, address=ENTRY_POINT_V07):
    topics = (keccak256(event.encode()), name, bytes(32))
    return Log(from_hex(address), topics, data, 1, bytes(32), bytes(32), 0)


def receipt(*logs):
    return Receipt(bytes(32), 1, bytes(32), succeeded=True, gas_used=1, logs=logs)


def event(name, *, succeeded, address=ENTRY_POINT_V07):
    return log(EVENT, name, encode(["uint256", "bool", "uint256", "uint256"], [0, succeeded, 1, 1]), address)


def test_only_the_entry_points_own_event_counts():
    logs = (event(OTHER, succeeded=True), event(NAME, succeeded=True, address="0x" + "11" * 20))
    assert handled_in(receipt(*logs), ENTRY_POINT_V07, NAME) is None
    assert handled_in(receipt(*logs, event(NAME, succeeded=True)), ENTRY_POINT_V07, NAME) == Handled(succeeded=True)


def test_an_operation_that_failed_tells_its_reason():
    failed = event(NAME, succeeded=False)
    assert handled_in(receipt(failed), ENTRY_POINT_V07, NAME) == Handled(succeeded=False)
    reverted = log(REVERT, NAME, encode(["uint256", "bytes"], [0, REASON]))
    assert handled_in(receipt(reverted, failed), ENTRY_POINT_V07, NAME) == Handled(succeeded=False, reason="no")
