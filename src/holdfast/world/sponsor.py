"""The local world's sponsor, which posts commitments, estimates gas, and approves for `VerifyingPaymaster`.

It uses a public development key, so it works only on a local chain, and has no budgets.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.chain import values
from holdfast.chain.approvals import ANSWERED, Approver, margin_in
from holdfast.chain.bundler import Bundler
from holdfast.chain.posted_commitments import PostedCommitments
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import from_hex
from holdfast.world.commitments import DevelopmentPoster

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.chain.rpc import RpcClient
    from holdfast.world.accounts import DevelopmentAccount
    from holdfast.world.anvil import LocalChain

VALID_FOR_S = 3600


class Sponsor:
    """Responds to `pm_sponsorUserOperation` for a local chain, using gas estimates from Alto."""

    def __init__(self, chain: LocalChain, alto: RpcClient, account: DevelopmentAccount) -> None:
        from eth_keys.datatypes import PrivateKey  # part of the extra `world`

        self._chain = chain
        self._alto = alto
        self._approver = Approver(PrivateKey(from_hex(account.private_key)), chain.chain_id)
        self._commitments = PostedCommitments(chain.rpc, DevelopmentPoster(chain, account.address))
        self._turn = asyncio.Lock()  # anvil chooses the nonces of the sponsor's transactions

    async def sponsor(
        self, form: Mapping[str, object], entry_point: str, context: Mapping[str, object] | None = None
    ) -> dict[str, str | None]:
        """Return the fields that complete the operation `form`.

        Raises ValueError for a malformed operation, ChainError.
        """
        operation = await self._with_fees(UserOperation.from_rpc(form))
        async with self._turn:
            await self._commitments.prepare(operation)
        bundler = Bundler(self._alto, entry_point=entry_point, chain_id=self._chain.chain_id)
        operation = await bundler.estimated(self._approver.stubbed(operation), margin_in(context or {}))
        given = self._approver.approved(operation, entry_point, await self._now() + VALID_FOR_S).to_rpc()
        return {name: given[name] for name in ANSWERED}

    async def _with_fees(self, operation: UserOperation) -> UserOperation:
        """Set the bundler's gas price in an operation without fees.

        Holdfast's proxy does not let clients request the bundler's gas price.
        """
        if operation.max_fee_per_gas:
            return operation
        fees = (await self._alto.call("pimlico_getUserOperationGasPrice"))["fast"]
        return replace(
            operation,
            max_fee_per_gas=values.quantity(fees["maxFeePerGas"]),
            max_priority_fee_per_gas=values.quantity(fees["maxPriorityFeePerGas"]),
        )

    async def pass_a_block(self, operation: UserOperation) -> None:
        """Mine a block if a commitment that the operation needs is in the newest block."""
        await self._commitments.pass_a_block(operation)

    async def _now(self) -> int:
        block = await self._chain.rpc.call("eth_getBlockByNumber", ["latest", False])
        return values.quantity(block["timestamp"])
