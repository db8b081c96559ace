"""What became of an exit, read from the node's receipt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.handle_ops import handled_in
from holdfast.client.flows.failures import OperationFailed
from holdfast.client.flows.operations import known_errors
from holdfast.wire.encoding import to_hex

if TYPE_CHECKING:
    from holdfast.chain.values import Receipt
    from holdfast.client.leaving.plan import Plan


@dataclass(frozen=True, slots=True)
class Done:
    """The transaction that moved everything, and the operation in it. Both in hex."""

    transaction_hash: str
    user_op_hash: str


def done_in(receipt: Receipt, plan: Plan) -> Done:
    """Return what was done. Raises OperationFailed if the operation failed, or is not in the transaction."""
    transaction = to_hex(receipt.transaction_hash)
    handled = handled_in(receipt, plan.account.entry_point, plan.hash, known_errors()) if receipt.succeeded else None
    if handled is None:
        raise OperationFailed(
            f"the transaction {transaction} did not execute the operation: look at what the account has done before "
            "you try again"
        )
    if not handled.succeeded:
        why = f"the operation was mined and failed, nothing was moved (transaction {transaction})"
        raise OperationFailed(f"{why}: {handled.reason}" if handled.reason else why, handled.reason)
    return Done(transaction, to_hex(plan.hash))
