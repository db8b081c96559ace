"""Chooses the payer of a user operation: an ERC-7677 paymaster, the service's sponsor, or the account itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.calls import execute
from holdfast.chain.errors import ChainError, NoPaymaster, RpcError, UserOperationError
from holdfast.chain.fees import Fees, fees_of_chain
from holdfast.client.flows.amounts import wei_text
from holdfast.client.flows.failures import AccountNotFunded, GasTooDear, chain_errors, is_stale, lacks_money
from holdfast.client.flows.gas import NoEndpoint
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import checksum_address

if TYPE_CHECKING:
    from holdfast.chain.bundler import Bundler
    from holdfast.chain.calls import Call
    from holdfast.chain.paymaster import Paymaster
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.flows.gas import GasPolicy

_OF_PAYMASTER = re.compile(r"\bAA3[0-9]\b")  # the codes of ERC-4337 for a paymaster that failed


@dataclass(frozen=True, slots=True)
class Payer:
    """Adds gas limits, fees and a payer to user operations on one chain.

    `paymaster` replaces the bundler's own sponsor. `margin` is what the signature needs beyond the estimate. `main`
    says whether this is the service's main chain, whose endpoint the policy may name.
    """

    bundler: Bundler
    policy: GasPolicy
    chain: RpcClient | None
    paymaster: Paymaster | None
    margin: int = 0
    main: bool = True

    async def paid(self, operation: UserOperation, call: Call, least: Fees) -> UserOperation:
        """Return the user operation, complete except for its signature, with at least the fees `least`.

        `call` is its call data before encoding.

        Raises:
            OperationFailed: the operation itself was refused, or no payer was found.
            NetworkError: an endpoint returned no usable response.
        """
        with chain_errors():
            usual = await self._with_fees(operation)
            operation = usual.priced(usual.fees.at_least(least))
            if not self.policy.sponsored:
                return await self._own(operation, call, "no sponsor was asked")
            try:
                return await self._sponsored(operation, usual, least)
            except (UserOperationError, NoPaymaster) as refused:
                if self.policy.max_own_cost_wei == 0 or _speaks_of_the_operation(refused):
                    raise
                return await self._own(operation, call, f"the sponsor does not pay: {refused}")

    async def _sponsored(self, operation: UserOperation, usual: UserOperation, least: Fees) -> UserOperation:
        """Return the operation, sponsored with at least the fees `least`, even if the sponsor sets its own.

        A sponsor that refuses them is asked for the `usual` ones: what it approved before can have ended.
        """
        try:
            made = await self._by_sponsor(operation)
            enough = made.fees.at_least(least)
            return made if enough == made.fees else await self._by_sponsor(operation.priced(enough))
        except (UserOperationError, NoPaymaster) as refused:
            lacks_fees = self.paymaster is not None and usual.max_fee_per_gas == 0
            if operation.fees == usual.fees or lacks_fees or _speaks_of_the_operation(refused):
                raise
            return await self._by_sponsor(usual)

    async def _by_sponsor(self, operation: UserOperation) -> UserOperation:
        if self.paymaster is None:
            return await self.bundler.sponsored(operation, self.margin, self.policy.context)
        return await self.paymaster.paid(self._priced(operation), self.bundler, self.margin)

    async def _with_fees(self, operation: UserOperation) -> UserOperation:
        """Return the operation with the chain's fees; if they cannot be read, zero until a sponsor sets them."""
        if self.chain is None:
            return operation
        try:
            fees = await fees_of_chain(self.chain, self.bundler.chain_id)
        except ChainError:
            if self.main and self.policy.rpc_url is not None:
                raise
            return operation
        return operation.priced(fees)

    async def _own(self, operation: UserOperation, call: Call, why: str) -> UserOperation:
        try:
            estimated = await self._estimated(self._priced(operation, f"{why}; and "))
        except UserOperationError as error:
            if call[1] and error.reason is None:
                await self._check_coin(operation, call, why)
            raise
        cost = estimated.greatest_cost
        if cost > self.policy.max_own_cost_wei:
            limit = wei_text(self.policy.max_own_cost_wei)
            raise GasTooDear(
                f"{why}; and the operation may cost {wei_text(cost)}, more than the account may pay itself ({limit})"
            )
        await self._check_funds(estimated, call[1], why)
        return estimated

    async def _check_coin(self, operation: UserOperation, call: Call, why: str) -> None:
        """Check that the account can send the call's native coin.

        An operation that sends too much reverts without a reason, so gas is estimated with an amount of zero.
        """
        without = await self._estimated(replace(operation, call_data=execute((call[0], 0, call[2]))))
        await self._check_funds(without, call[1], why)

    def _priced(self, operation: UserOperation, before: str = "") -> UserOperation:
        if operation.max_fee_per_gas == 0:
            remedy = "name the chain's JSON-RPC endpoint in the gas policy"
            raise NoEndpoint(f"{before}the price of gas is not known", remedy, main=self.main)
        return operation

    async def _estimated(self, operation: UserOperation) -> UserOperation:
        """Return the operation with estimated gas limits, even if its account's balance is too low to send it."""
        try:
            return await self.bundler.estimated(operation, self.margin)
        except UserOperationError as error:
            if not lacks_money(error):
                raise
        return (await self.bundler.estimated(operation.priced(Fees(0, 0)), self.margin)).priced(operation.fees)

    async def _check_funds(self, operation: UserOperation, value: int, why: str) -> None:
        account = to_hex(operation.sender)
        assert self.chain is not None  # the fees were read from this endpoint
        balance = await self.chain.get_balance(account)
        held = call_data("balanceOf(address)", account)
        deposit = int.from_bytes(await self.chain.eth_call(self.bundler.entry_point, held))
        needed = value + max(operation.greatest_cost - deposit, 0)
        if balance < needed:
            address = checksum_address(operation.sender)
            message = (
                f"{why}; and the account {address} has {wei_text(balance)} of the {wei_text(needed)} that the operation"
                " needs: send the account the rest, or name a paymaster"
            )
            raise AccountNotFunded(message, address, balance, needed)


def _speaks_of_the_operation(refused: RpcError | UserOperationError) -> bool:
    """Return whether the operation would be refused even if the account paid: it reverts, or its nonce was used."""
    reason = refused.reason if isinstance(refused, UserOperationError) else None
    return is_stale(refused) or (reason is not None and _OF_PAYMASTER.search(reason) is None)
