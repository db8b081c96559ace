"""Charges what a sponsor's approved operations cost, and gives client addresses back what they reserved for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain import values
from holdfast.chain.errors import RpcError
from holdfast.chain.handle_ops import COST, EVENT, NONCE
from holdfast.rules.sponsoring import in_gwei, lapsed
from holdfast.service.store.sponsorships import address_chain
from holdfast.wire.abi import word
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.chain.rpc import RpcClient
    from holdfast.service.store.sponsorships import OpenSponsorship, SponsorshipStore

AT_ONCE, BLOCKS_AT_ONCE, RANGES_AT_ONCE = 200, 1000, 100
REACH = BLOCKS_AT_ONCE * RANGES_AT_ONCE  # blocks after an approval's in which its operation is looked for


@dataclass(frozen=True, slots=True)
class SponsorCharges:
    """The open approvals of one paymaster on one chain. `connect` returns the client of the chain's endpoint."""

    store: SponsorshipStore
    connect: Callable[[], RpcClient]
    chain_id: int
    entry_point: str
    paymaster: str

    async def opened(self) -> list[OpenSponsorship]:
        """Return the approvals that are not settled. Raises StoreUnavailable."""
        return await self.store.open_sponsorships(self.chain_id, AT_ONCE)

    async def of_addresses(self, address: str | None = None) -> list[OpenSponsorship]:
        """Return what client addresses, or one of them, have reserved. Raises StoreUnavailable."""
        return await self.store.open_sponsorships(address_chain(self.chain_id), AT_ONCE, address)

    async def settle_used(self, account: str, address: str | None) -> bool:
        """Charge what an account's operations cost that have been mined since the last run; return whether any were.

        Its next operation is asked for at once, so this does not wait for blocks on top. Raises RpcError,
        StoreUnavailable.
        """
        rows = await self.store.open_sponsorships(self.chain_id, AT_ONCE, account)
        costs = await self.mined(rows, last_block(rows, await self.connect().block_number())) if rows else {}
        for row in rows:
            if (cost := costs.get(row.key[1:])) is not None:
                await self.store.settle(row.key, row.valid_until, min(cost, row.gwei))
        if costs:
            own = [] if address is None else await self.of_addresses(address)
            await self.give_back([*own, *await self.of_addresses()], costs)
        return bool(costs)

    async def give_back(
        self, rows: Sequence[OpenSponsorship], used: Mapping[tuple[str, str], int], time: int = 0
    ) -> None:
        """Give client addresses back what they reserved for nonces that are used, and most of what ended by `time`."""
        for row in rows:
            account, nonce, *_ = row.key.nonce.split()
            is_used = (account, nonce) in used
            if is_used or row.valid_until < time:
                await self.store.settle(row.key, row.valid_until, 0 if is_used else lapsed(row.gwei))

    async def mined(self, rows: Sequence[OpenSponsorship], newest: int) -> dict[tuple[str, str], int]:
        """Return what the mined operations cost, in gwei, by account and nonce, up to the block `newest`."""
        rpc, costs = self.connect(), {}
        topics = [to_hex(EVENT), None, sorted({_topic(row.key.sender) for row in rows}), _topic(self.paymaster)]
        for start in range(min((row.block for row in rows), default=newest + 1), newest + 1, BLOCKS_AT_ONCE):
            end = min(start + BLOCKS_AT_ONCE - 1, newest)
            log_filter = {"address": self.entry_point, "topics": topics, "fromBlock": hex(start), "toBlock": hex(end)}
            for log in values.logs(await rpc.call("eth_getLogs", [log_filter])):
                if not start <= log.block_number <= end or to_hex(log.address) != self.entry_point.lower():
                    raise RpcError("answer has other logs than those asked for")
                account, nonce, cost = _event(log, _topic(self.paymaster))
                costs[account, hex(nonce)] = in_gwei(cost)
        return costs


def last_block(rows: Sequence[OpenSponsorship], newest: int) -> int:
    """Return the newest block in which these operations are looked for: one long after all approvals have ended.

    A lying endpoint must not name work without end.
    """
    return min([newest, *(row.block + REACH for row in rows)])


def _event(log: values.Log, paymaster: str) -> tuple[str, int, int]:
    """Return account, nonce and cost in wei. Raises RpcError for another event, or another paymaster's."""
    try:
        if (log.topics[0], to_hex(log.topics[3])) != (EVENT, paymaster):
            raise ValueError
        nonce, cost = (int.from_bytes(word(log.data, index)) for index in (NONCE, COST))
        return to_hex(log.topics[2][12:]), nonce, cost
    except (ValueError, IndexError):
        raise RpcError("answer is not an operation's event") from None


def _topic(address: str) -> str:
    return to_hex(from_hex(address).rjust(32, b"\x00"))
