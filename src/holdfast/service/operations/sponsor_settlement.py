"""Charges what approved operations really cost, gives back what was not used, and watches the deposit."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from holdfast.chain import values
from holdfast.chain.abi import call_data
from holdfast.rules.sponsoring import day_of, in_ether, in_gwei
from holdfast.service.operations.commitment_transactions import COMMITMENT
from holdfast.service.operations.sponsor_charges import REACH, last_block
from holdfast.service.telemetry import metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.service.operations.sponsor import Sponsor

SETTLE_EVERY_S = 15.0
_RETENTION_DAYS = 1
_log = logging.getLogger("holdfast.sponsor")


class Funds(NamedTuple):
    """What the sponsor has, in wei: its deposit with the entry point, and the coin of its address."""

    deposit: int
    coin: int


async def funds_of(sponsor: Sponsor) -> Funds:
    """Return what a sponsor has. Raises RpcError."""
    rpc = sponsor.connect()
    held = await rpc.eth_call(sponsor.entry_point, call_data("balanceOf(address)", sponsor.approver.paymaster))
    return Funds(int.from_bytes(held[:32]), await rpc.get_balance(sponsor.approver.address))


@dataclass(slots=True)
class SponsorSettlement:
    """The periodic job of all sponsors, by chain ID. `depth`: blocks on top of one that counts."""

    sponsors: Mapping[int, Sponsor]
    depth: int
    _low: set[int] = field(default_factory=set)

    async def run(self) -> dict[str, int]:
        """Settle what can be, and report the deposits. Raises StoreUnavailable; RpcError for the first failed chain.

        A chain that does not respond does not keep the others waiting.
        """
        done = await asyncio.gather(*map(self._one, self.sponsors.values()), return_exceptions=True)
        found = [each for each in done if not isinstance(each, BaseException)]
        if found:
            metrics.SPONSOR_DEPOSIT.set(min(deposit for _, deposit in found) / 10**18)
            metrics.SPONSOR_LOW.set(float(bool(self._low)))
        for failed in done:
            if isinstance(failed, BaseException):
                raise failed
        return {"settled": sum(settled for settled, _ in found)}

    async def _one(self, sponsor: Sponsor) -> tuple[int, int]:
        """Return how many approvals of a chain were settled, and its deposit in wei."""
        settled = await self._settle(sponsor)
        await sponsor.store.forget(day_of(sponsor.clock()) - _RETENTION_DAYS)
        return settled, await self._watched(sponsor)

    async def _settle(self, sponsor: Sponsor) -> int:
        charges = sponsor.charges
        rows, of_addresses = await charges.opened(), await charges.of_addresses()
        if not rows and not of_addresses:
            return 0
        rpc = sponsor.connect()
        number = last_block(rows, max(await rpc.block_number() - self.depth, 0))
        block = await rpc.call("eth_getBlockByNumber", [hex(number), False])
        costs, time = await charges.mined(rows, number), values.count(values.field(block, "timestamp"))
        settled = 0
        for row in rows:
            cost, ended = costs.get(row.key[1:]), row.valid_until < time
            # The endpoint was far behind when it was approved: where it was mined, if it was, is not known.
            lost = row.block + REACH <= number and row.valid_until < sponsor.clock()
            if cost is None and (ended or lost):
                cost = 0 if ended and not row.key.nonce.startswith(COMMITMENT) else row.gwei
            if cost is not None:
                settled += await sponsor.store.settle(row.key, row.valid_until, min(cost, row.gwei))
        await charges.give_back(of_addresses, costs, time)
        return settled

    async def _watched(self, sponsor: Sponsor) -> int:
        """Return the deposit in wei; log once when it becomes low."""
        deposit = (await funds_of(sponsor)).deposit
        if in_gwei(deposit) >= sponsor.limits.low:
            self._low.discard(sponsor.chain_id)
        elif sponsor.chain_id not in self._low:
            self._low.add(sponsor.chain_id)
            left = {"chain": sponsor.chain_id, "left": in_ether(deposit // 10**9)}
            _log.warning("the sponsor's deposit is low: holdfast sponsor deposit", extra=left)
        return deposit
