"""The entry point's `handleOps`, called by an ordinary transaction, and what its events say of one operation."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.packed_operations import pack
from holdfast.chain.reverts import decode_revert
from holdfast.wire.abi import content, word
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.chain.reverts import ErrorAbi
    from holdfast.chain.user_operations import UserOperation
    from holdfast.chain.values import Log, Receipt

_PACKED = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)"
EVENT = keccak256(b"UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)")
_REVERT = keccak256(b"UserOperationRevertReason(bytes32,address,uint256,bytes)")
NONCE, SUCCESS, COST = 0, 1, 2  # words of EVENT
_REASON = 1  # UserOperationRevertReason's words: nonce, reason


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of an operation in a transaction. `reason` is the decoded revert of an operation that failed."""

    succeeded: bool
    reason: str | None = None


def handle_ops(operation: UserOperation, beneficiary: str) -> bytes:
    """Return the call data that has one signed operation executed, and pays its fees to `beneficiary`."""
    return call_data(f"handleOps({_PACKED}[],address)", [astuple(pack(operation))], beneficiary)


def handled_in(
    receipt: Receipt, entry_point: str, operation_hash: bytes, errors: Iterable[ErrorAbi] = ()
) -> Handled | None:
    """Return what the entry point says of the operation in this transaction, None if the operation is not in it."""
    logs = [log for log in receipt.logs if log.address == from_hex(entry_point) and operation_hash in log.topics[1:2]]
    done = next((log for log in logs if log.topics[0] == EVENT), None)
    if done is None:
        return None
    if any(word(done.data, SUCCESS)):
        return Handled(succeeded=True)
    return Handled(succeeded=False, reason=_reason(logs, errors))


def _reason(logs: Iterable[Log], errors: Iterable[ErrorAbi]) -> str | None:
    reverted = next((log for log in logs if log.topics[0] == _REVERT), None)
    return None if reverted is None else decode_revert(content(reverted.data, word(reverted.data, _REASON)), errors)
