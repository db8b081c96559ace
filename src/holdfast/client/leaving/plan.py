"""An exit that is planned: what the person is shown, and exactly what is signed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from holdfast.chain.calls import execute_batch
from holdfast.chain.packed_operations import operation_hash
from holdfast.client.flows.failures import OperationFailed
from holdfast.client.leaving.moves import coin_after, moves_of

if TYPE_CHECKING:
    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.leaving.account import Account
    from holdfast.client.leaving.moves import Destination, Holdings, Move


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderFees:
    """The ordinary transaction that carries the operation: its payer, greatest gas, and wei per unit of gas."""

    sender: str
    gas: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be signed and sent.

    Attributes:
        moves: the batch.
        operation: complete except for its signature.
        payer: who pays for gas.
        max_cost: the most that the payer pays, in wei; a rollup adds its fee for data. 0: a paymaster pays.
        transaction: what an ordinary transaction may cost; None through a bundler.
    """

    account: Account
    moves: tuple[Move, ...]
    operation: UserOperation
    payer: Literal["account", "paymaster", "sender"]
    max_cost: int
    transaction: SenderFees | None = None

    @property
    def hash(self) -> bytes:
        """The operation's hash, which the vault signs."""
        return operation_hash(self.operation, entry_point=self.account.entry_point, chain_id=self.account.chain_id)


def whole(held: Holdings, where: Destination) -> tuple[Move, ...]:
    """Return the batch of an account that pays no fees: everything it has. Raises OperationFailed for an empty one."""
    moves = tuple(moves_of(held, where, coin=held.coin, deposit=held.deposit))
    if not moves:
        raise NothingToMove(f"the account {where.account} has nothing on this chain that could be moved")
    return moves


def estimable(held: Holdings, where: Destination) -> tuple[Move, ...]:
    """Return the batch for estimating the gas of an account that pays itself: with one wei, as the cost is unknown."""
    return tuple(moves_of(held, where, coin=min(held.coin, 1), deposit=0))


def after_fees(
    held: Holdings, where: Destination, operation: UserOperation, cost: int
) -> tuple[UserOperation, tuple[Move, ...]]:
    """Return the operation and the batch that leaves the account what it needs for fees of `cost` wei.

    What the operation does not use of that becomes the account's deposit at the entry point.

    Raises:
        NothingToMove: the fees would take everything.
        OperationFailed: the account cannot pay them.
    """
    try:
        coin = coin_after(held, cost)
    except ValueError as error:
        raise OperationFailed(str(error)) from error
    moves = tuple(moves_of(held, where, coin=coin, deposit=0))
    if not moves:
        raise NothingToMove("the fees would take everything that the account has")
    return replace(operation, call_data=execute_batch([move.call for move in moves])), moves


class NothingToMove(OperationFailed):
    """The account has nothing to move."""
