"""Confirms registrations by checking the chain (decisions, sections 5 and 10; docs/decisions/0009)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.chain import registrations
from holdfast.chain.errors import RpcError, chain_words
from holdfast.chain.registrations import Sought
from holdfast.rules.confirmation import NEVER, ask_again_at, deep_enough, overdue, states_no_transaction
from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import CONFIRM_TURN_S, MAX_CONFIRMED_PER_TURN
from holdfast.rules.registration import Confirmation
from holdfast.service.telemetry import metrics
from holdfast.wire.errors import RPC_ERROR, Refused

if TYPE_CHECKING:
    from holdfast.service.clock import Clock
    from holdfast.service.operations.controllers import Controllers
    from holdfast.service.store.port import Store
    from holdfast.service.store.values import PendingRegistration
    from holdfast.service.upstreams.chain_rpc import ChainReader

_log = logging.getLogger("holdfast.confirmation")
_COMPANY = 20  # checks in one batch


@dataclass(frozen=True, slots=True)
class ChainProof:
    """Proof that a transaction registers the DID: the transaction's block, and whether enough blocks follow it."""

    block_number: int
    deep: bool


@dataclass(frozen=True, slots=True)
class Confirmations:
    """Checks on the chain whether registrations took place.

    Attributes:
        depth: how many blocks must follow a transaction's block before the registration counts as confirmed.
        bundler: whether the service has a bundler. Without one, the chain does not decide on a registration that says
            that it has no transaction.
    """

    store: Store
    chain: ChainReader
    registry: bytes
    controllers: Controllers
    depth: int
    clock: Clock
    bundler: bool

    async def prove(self, tx_hash: str, sought: Sought) -> ChainProof | None:
        """Return what a transaction proves; None if it does not register the DID. Raises Refused(RPC_ERROR)."""
        try:
            verdict = await self.verdict(tx_hash, sought)
            if not isinstance(verdict, registrations.Confirmed):
                return None
            return ChainProof(verdict.block_number, await self._deep(verdict.block_number))
        except RpcError:
            raise Refused(RPC_ERROR) from None

    async def confirm_all(self) -> dict[str, int]:
        """Check the pending registrations that are due; returns how many were confirmed, refused and left pending.

        A failed check does not delay other checks. A run checks a limited number of registrations in a limited time;
        the next run begins with those that this one does not reach.
        """
        counts = {outcome.value: 0 for outcome in Confirmation}
        turn = _Turn(self, asyncio.get_running_loop().time() + CONFIRM_TURN_S)
        rows = await self._without_unanchored(await self.store.due(self.clock(), MAX_CONFIRMED_PER_TURN))
        for start in range(0, len(rows), _COMPANY):
            if turn.over or not (self.depth == 0 or await turn.reached()):
                break
            for outcome in await turn.settle(rows[start : start + _COMPANY]):
                counts[outcome.value] += 1
                metrics.CONFIRMATIONS.add(outcome.value)
        return counts

    async def _without_unanchored(self, rows: list[PendingRegistration]) -> list[PendingRegistration]:
        """Return the rows that the chain decides, and put off the others for ever."""
        unanchored = [] if self.bundler else [row for row in rows if states_no_transaction(row.tx_hash)]
        if unanchored:
            await self.store.put_off([(row.credential, NEVER) for row in unanchored])
        return [row for row in rows if row not in unanchored]

    async def verdict(self, tx_hash: str, sought: Sought) -> registrations.Verdict:
        """Return what the chain shows now about the transaction, however few blocks follow it. Raises RpcError."""
        verdict = await registrations.confirm_registration(
            self.chain.client, tx_hash, registry=self.registry, sought=sought
        )
        if not isinstance(verdict, registrations.Confirmed):
            return verdict
        held = await self.controllers.may_hold(sought.did, verdict.controller)
        return verdict if held else replace(registrations.ANOTHERS_KEY, block_number=verdict.block_number)

    async def _deep(self, block_number: int) -> bool:
        return self.depth == 0 or deep_enough(await self.chain.client.block_number(), block_number, self.depth)


class _Turn:
    """One run of the confirmation job: what it knows about the chain, and its time limit."""

    def __init__(self, confirmations: Confirmations, ends: float) -> None:
        """`ends` is a time on the event loop's clock, in seconds."""
        self._all = confirmations
        self._ends = ends
        self._head: int | None = None

    @property
    def over(self) -> bool:
        return asyncio.get_running_loop().time() >= self._ends

    async def reached(self) -> bool:
        """Return whether the chain can be reached. While the chain cannot be reached, no registration expires."""
        if self._head is None:
            try:
                self._head = await self._all.chain.client.block_number()
            except RpcError as error:
                _log.info("chain cannot be asked; registrations stay pending", extra={"why": chain_words(error)})
        return self._head is not None

    async def settle(self, rows: list[PendingRegistration]) -> list[Confirmation]:
        """Check registrations together: confirm or refuse those that the chain decides, and postpone the others."""
        seen = dict(zip(rows, await asyncio.gather(*map(self._ask, rows)), strict=True))
        # A single check can make its whole batch fail, because its response is too large or is refused, so failed
        # checks are repeated one at a time.
        for row in [row for row in rows if seen[row] is None]:
            if self.over:
                del seen[row]
            else:
                seen[row] = await self._ask(row)
        outcomes = {row: await self._settle(row, verdict) for row, verdict in seen.items()}
        await self._put_off([row for row, outcome in outcomes.items() if outcome is Confirmation.PENDING], seen)
        return list(outcomes.values())

    async def _put_off(
        self, rows: list[PendingRegistration], seen: dict[PendingRegistration, registrations.Verdict | None]
    ) -> None:
        now = self._all.clock()
        times = [
            (row.credential, ask_again_at(now, row.created_at, row.attempts, in_sight=_in_sight(seen[row])))
            for row in rows
        ]
        if times:
            await self._all.store.put_off(times)

    async def _ask(self, row: PendingRegistration) -> registrations.Verdict | None:
        """Return what the chain shows now about the registration; None if there was no usable response."""
        handle = row.key if row.channel == Channel.HANDLE.value else None
        try:
            return await self._all.verdict(row.tx_hash, Sought(row.did, row.smart_account, handle))
        except RpcError:
            return None

    async def _settle(self, row: PendingRegistration, seen: registrations.Verdict | None) -> Confirmation:
        now, store = self._all.clock(), self._all.store
        if isinstance(seen, registrations.Confirmed) and self._deep(seen.block_number):
            await store.settle(row.credential, Confirmation.CONFIRMED, seen.block_number, now)
            return Confirmation.CONFIRMED
        if not await self._refused(row, seen, now):
            return Confirmation.PENDING
        reason = seen.reason if isinstance(seen, registrations.Rejected) else "no receipt in time"
        await store.settle(row.credential, Confirmation.REFUSED, None, now)
        _log.warning("registration refused by the chain", extra={"why": reason})
        return Confirmation.REFUSED

    async def _refused(self, row: PendingRegistration, seen: registrations.Verdict | None, now: float) -> bool:
        if isinstance(seen, registrations.Rejected) and seen.contradicted and self._deep(seen.block_number):
            return True
        if _in_sight(seen) or not overdue(now, row.created_at):
            return False
        return seen is not None or await self.reached()

    def _deep(self, block_number: int | None) -> bool:
        depth = self._all.depth
        return depth == 0 or (
            self._head is not None and block_number is not None and deep_enough(self._head, block_number, depth)
        )


def _in_sight(seen: registrations.Verdict | None) -> bool:
    """Return whether the transaction was mined with the expected events and only needs more blocks after it."""
    return isinstance(seen, registrations.Confirmed)
