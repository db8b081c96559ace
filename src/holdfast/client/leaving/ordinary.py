"""An exit by an ordinary transaction: a funded key calls the entry point itself, so no bundler is needed.

The operation's own fees are zero. The sender pays for the transaction, so the account needs no coin, and all that it
has is moved. Whoever else brings the operation to the chain pays for it and changes nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.chain import values
from holdfast.chain.bundler import refusal
from holdfast.chain.errors import RpcError
from holdfast.chain.fees import fees_of_chain
from holdfast.chain.gas import BYTE, DEPLOYMENT, ENTRY_POINT, NEW_ADDRESS, PERCENT, VERIFICATION, WITHOUT_PRECOMPILE
from holdfast.chain.handle_ops import handle_ops
from holdfast.chain.sent_transactions import MINED_WITHIN_S, mined, send_raw
from holdfast.chain.transactions import Transaction
from holdfast.client.flows.amounts import wei_text
from holdfast.client.flows.failures import AccountNotFunded, GasTooDear, OperationFailed, chain_errors
from holdfast.client.flows.operations import known_errors
from holdfast.client.leaving.outcome import Done, done_in
from holdfast.client.leaving.plan import Plan, SenderFees, whole
from holdfast.client.leaving.precompile import has_precompile
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.leaving.account import Account
    from holdfast.client.leaving.moves import Destination, Holdings, Move


@dataclass(frozen=True, slots=True)
class Ordinary:
    """A chain node, and the key that pays for the transaction."""

    chain: RpcClient
    key: PrivateKey

    @property
    def sender(self) -> str:
        """The address that pays."""
        return str(self.key.public_key.to_checksum_address())

    async def plan(self, account: Account, held: Holdings, where: Destination, max_cost: int) -> Plan:
        """Return the plan. `max_cost`: the most that the sender may pay, in wei.

        Raises OperationFailed (also NothingToMove, AccountNotFunded, GasTooDear), NetworkError.
        """
        moves = whole(held, where)
        with chain_errors():
            call_gas = sum(await asyncio.gather(*(self._gas_of(move, account) for move in moves)))
            fees = await fees_of_chain(self.chain, account.chain_id)
            balance = await self.chain.get_balance(self.sender)
            operation = replace(
                account.operation(move.call for move in moves),
                call_gas_limit=call_gas * PERCENT // 100,
                verification_gas_limit=await self._verification_gas(account),
            )
        gas = greatest_gas(operation, self.sender)
        cost = gas * fees.max_fee_per_gas
        _check(self.sender, balance, cost, max_cost)
        paid = SenderFees(
            sender=self.sender,
            gas=gas,
            max_fee_per_gas=fees.max_fee_per_gas,
            max_priority_fee_per_gas=fees.max_priority_fee_per_gas,
        )
        return Plan(account=account, moves=moves, operation=operation, payer="sender", max_cost=cost, transaction=paid)

    async def send(self, plan: Plan, operation: UserOperation) -> Done:
        """Have the node try the signed operation, send the transaction once, and wait until it is mined.

        Raises OperationFailed, NetworkError; the operation may be mined nevertheless.
        """
        assert plan.transaction is not None
        entry_point, data = plan.account.entry_point, handle_ops(operation, self.sender)
        with chain_errors():
            gas = await self._estimate({"from": self.sender, "to": entry_point, "data": to_hex(data)})
            nonce = values.quantity(await self.chain.call("eth_getTransactionCount", [self.sender, "pending"]))
            transaction = Transaction(
                chain_id=plan.account.chain_id,
                nonce=nonce,
                max_priority_fee_per_gas=plan.transaction.max_priority_fee_per_gas,
                max_fee_per_gas=plan.transaction.max_fee_per_gas,
                gas=min(gas * PERCENT // 100, plan.transaction.gas),
                to=from_hex(entry_point),
                data=data,
            )
            sent = await send_raw(self.chain, transaction.signed(self.key))
            try:
                return done_in(await mined(self.chain, sent), plan)
            except TimeoutError as error:
                raise OperationFailed(f"transaction {sent} is not mined after {MINED_WITHIN_S:.0f} s") from error

    async def _gas_of(self, move: Move, account: Account) -> int:
        """Return the most gas of a call in the batch: a transaction's with it. Works without the account's code."""
        to, value, data = move.call
        try:
            alone = await self._estimate(
                {"from": account.key.address, "to": to, "value": hex(value), "data": to_hex(data)}
            )
            return alone + NEW_ADDRESS if value else alone
        except OperationFailed as error:
            raise OperationFailed(f"{move.text}: {error}", error.reason) from error

    async def _verification_gas(self, account: Account) -> int:
        slow = not await has_precompile(self.chain)
        keys = 1 + (account.second is not None)
        return keys * (VERIFICATION + slow * WITHOUT_PRECOMPILE) + (not account.deployed) * DEPLOYMENT

    async def _estimate(self, call: dict[str, str]) -> int:
        try:
            return values.quantity(await self.chain.call("eth_estimateGas", [call]))
        except RpcError as error:
            if error.code is None:
                raise
            refused = refusal(error, known_errors())
            raise OperationFailed(str(refused), refused.reason) from error


def greatest_gas(operation: UserOperation, sender: str) -> int:
    """Return the most gas that a transaction with this operation uses. The signature is not in it yet."""
    data = BYTE * (len(handle_ops(operation, sender)) + 256)
    # The entry point requires that a 64th more than the call's gas is left (EIP-150).
    return data + ENTRY_POINT + operation.verification_gas_limit + operation.call_gas_limit * 64 // 63


def _check(sender: str, balance: int, cost: int, max_cost: int) -> None:
    if cost > max_cost:
        raise GasTooDear(f"the transaction may cost {wei_text(cost)}, more than the limit of {wei_text(max_cost)}")
    if balance < cost:
        raise AccountNotFunded(
            f"the sender {sender} has {wei_text(balance)} of the {wei_text(cost)} that the transaction may cost: send "
            "it there",
            sender,
            balance,
            cost,
        )
