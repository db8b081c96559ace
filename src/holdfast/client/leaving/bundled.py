"""An exit through an ERC-4337 bundler: the account pays from its coin, or a paymaster pays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.chain import gas
from holdfast.chain.bundler import Bundler
from holdfast.chain.fees import Fees
from holdfast.chain.paymaster import Paymaster
from holdfast.chain.sent_transactions import mined
from holdfast.client.flows.failures import GasTooDear, OperationFailed, chain_errors
from holdfast.client.flows.gas import GasPolicy
from holdfast.client.flows.operations import known_errors
from holdfast.client.flows.paying import Payer
from holdfast.client.leaving.account import OtherChain
from holdfast.client.leaving.outcome import Done, done_in
from holdfast.client.leaving.plan import Plan, after_fees, estimable, whole
from holdfast.client.leaving.precompile import has_precompile
from holdfast.wire.encoding import to_hex

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.leaving.account import Account
    from holdfast.client.leaving.moves import Destination, Holdings


@dataclass(frozen=True, slots=True)
class Bundled:
    """A bundler for one account's chain, and the paymaster, if one pays."""

    chain: RpcClient
    bundler: RpcClient
    paymaster: RpcClient | None = None

    async def plan(self, account: Account, held: Holdings, where: Destination, max_cost: int) -> Plan:
        """Return the plan. `max_cost`: the most that the account may pay, in wei.

        Raises OtherChain, OperationFailed (also NothingToMove, AccountNotFunded, GasTooDear), NetworkError.
        """
        everything = whole(held, where)
        with chain_errors():
            if (served := await self.bundler.chain_id()) != account.chain_id:
                raise OtherChain(f"the bundler is of chain {served}, not {account.chain_id}")
        if self.paymaster is not None:
            unpaid = account.operation(move.call for move in everything)
            paid = await (await self._payer(account, 0)).paid(unpaid, _no_coin(where), Fees(0, 0))
            return Plan(account=account, moves=everything, operation=paid, payer="paymaster", max_cost=0)
        unpaid = account.operation(move.call for move in estimable(held, where))
        paid = await (await self._payer(account, max_cost)).paid(unpaid, _no_coin(where), Fees(0, 0))
        return _own(account, held, where, paid, max_cost)

    async def send(self, plan: Plan, operation: UserOperation) -> Done:
        """Send the signed operation once, and wait until the node has its transaction.

        Raises OperationFailed, NetworkError; the operation may be mined nevertheless.
        """
        with chain_errors():
            bundler = self._bundler(plan.account)
            sent = await bundler.wait(await bundler.send(operation))
            transaction = to_hex(sent.transaction_hash)
            try:
                receipt = await mined(self.chain, transaction)
            except TimeoutError as error:
                raise OperationFailed(f"the node does not have the bundler's transaction {transaction}") from error
        return done_in(receipt, plan)

    async def _payer(self, account: Account, max_cost: int) -> Payer:
        bundler, paymaster = self._bundler(account), None
        if self.paymaster is not None:
            paymaster = Paymaster(
                self.paymaster, entry_point=account.entry_point, chain_id=account.chain_id, errors=known_errors()
            )
        policy = GasPolicy(sponsored=paymaster is not None, max_own_cost_wei=max_cost)
        with chain_errors():
            margin = await self._margin(account)
        return Payer(bundler, policy, self.chain, paymaster, margin)

    async def _margin(self, account: Account) -> int:
        """Return the gas that an estimate lacks for the keys that sign."""
        if not account.by_name and account.second is None:
            return 0
        lacking = [key.verification_gas for key in (account.passkey, account.second) if key is not None]
        if lacking and await has_precompile(self.chain):
            lacking = [min(each, gas.WEBAUTHN_WITH_PRECOMPILE) for each in lacking]
        names = 1 + (account.second is not None)
        return names * gas.BY_NAME + sum(lacking)

    def _bundler(self, account: Account) -> Bundler:
        return Bundler(self.bundler, entry_point=account.entry_point, chain_id=account.chain_id, errors=known_errors())


def _own(account: Account, held: Holdings, where: Destination, paid: UserOperation, max_cost: int) -> Plan:
    paid = replace(paid, pre_verification_gas=paid.pre_verification_gas + gas.MORE_CALL_DATA)
    cost = paid.greatest_cost
    if cost > max_cost:
        raise GasTooDear(f"the operation may cost {cost} wei, more than the limit of {max_cost} wei")
    operation, moves = after_fees(held, where, paid, cost)
    return Plan(account=account, moves=moves, operation=operation, payer="account", max_cost=cost)


def _no_coin(where: Destination) -> tuple[str, int, bytes]:
    """Return the call that tells the payer that the estimated batch itself needs no coin."""
    return where.to, 0, b""
