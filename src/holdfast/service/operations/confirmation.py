"""Confirmation of registrations against the chain, and the removal of what is over (decisions, sections 5 and 10)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain import registrations
from holdfast.chain.errors import RpcError
from holdfast.rules.limits import CONFIRMATION_DEADLINE_S
from holdfast.rules.registration import Confirmation
from holdfast.wire.errors import RPC_ERROR, Refused

if TYPE_CHECKING:
    from holdfast.service.clock import Clock
    from holdfast.service.ports import PendingRegistration, Store
    from holdfast.service.upstreams.chain_rpc import ChainReader

_log = logging.getLogger("holdfast.confirmation")
_PAGE = 100


@dataclass(frozen=True, slots=True)
class Confirmations:
    """Asks the chain whether registrations took place."""

    store: Store
    chain: ChainReader
    registry: bytes
    clock: Clock

    async def prove(self, tx_hash: str, did: str) -> int | None:
        """Block of a transaction that registers the DID; None when it does not. Raises Refused(RPC_ERROR)."""
        try:
            verdict = await self._verdict(tx_hash, did)
        except RpcError:
            raise Refused(RPC_ERROR) from None
        return verdict.block_number if isinstance(verdict, registrations.Confirmed) else None

    async def confirm_all(self) -> dict[str, int]:
        """Settle every pending registration that the chain has a word on; how many went which way.

        A chain that cannot be reached settles nothing: only its own answers count against a registration.
        """
        counts = {outcome.value: 0 for outcome in Confirmation}
        after = ""
        while page := await self.store.unconfirmed(after, _PAGE):
            for pending in page:
                try:
                    counts[await self._settle(pending)] += 1
                except RpcError:
                    _log.info("chain cannot be asked; registrations stay pending")
                    return counts
            after = page[-1].credential
        return counts

    async def _settle(self, pending: PendingRegistration) -> Confirmation:
        verdict = await self._verdict(pending.tx_hash, pending.did)
        now = self.clock()
        if isinstance(verdict, registrations.Confirmed):
            await self.store.settle(pending.credential, Confirmation.CONFIRMED, verdict.block_number, now)
            return Confirmation.CONFIRMED
        another = verdict is registrations.ANOTHER_DID
        if not another and now - pending.created_at < CONFIRMATION_DEADLINE_S:
            return Confirmation.PENDING
        reason = verdict.reason if isinstance(verdict, registrations.Refused) else "no receipt in time"
        await self.store.settle(pending.credential, Confirmation.REFUSED, None, now)
        _log.warning("registration refused by the chain", extra={"why": reason})
        return Confirmation.REFUSED

    async def _verdict(self, tx_hash: str, did: str) -> registrations.Verdict:
        return await registrations.confirm_registration(self.chain.client, tx_hash, registry=self.registry, did=did)
