"""Checks who may store snapshots here: a token must be valid and not revoked, and its DID must be registered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.limits import HOUR_S, PERSON_REQUESTS_PER_ADDRESS_HOUR
from holdfast.rules.quotas import Counted, of_address
from holdfast.rules.snapshot_tokens import MAX_LIFETIME_S, SKEW_S, Bearer, bearer_of
from holdfast.wire.commands import REVOKE, WRITE
from holdfast.wire.errors import Refused
from holdfast.wire.failures import DID_NOT_REGISTERED, TOKEN_REVOKED, TOO_MANY_REQUESTS, SnapshotRefused

if TYPE_CHECKING:
    from holdfast.service.clock import Clock
    from holdfast.service.operations.reading_rate import ReadingRate
    from holdfast.service.store.port import Store
    from holdfast.service.store.snapshot_index import SnapshotIndex


@dataclass(frozen=True, slots=True)
class SnapshotAccess:
    """Checks bearer tokens, and limits each address's refused tokens, writes and requests about a person.

    Attributes:
        audience: the service's DID, to which tokens are addressed.
        writes_per_hour: uploads, new pins and revocations that an address may send in an hour.
        refusals: counts the tokens that are refused; an address that has sent too many is not heard.
    """

    store: Store
    index: SnapshotIndex
    audience: str
    writes_per_hour: int
    refusals: ReadingRate
    clock: Clock

    async def bearer(
        self, authorization: str | None, address: str, command: str = WRITE, *, registered: bool = True
    ) -> Bearer:
        """Return the DID that a request acts for; `registered`: which must be registered. Raises SnapshotRefused."""
        self.refusals.count(address)  # before anything is read, and given back unless the token is refused
        refused = False
        try:
            bearer = bearer_of(authorization, self.audience, self.clock(), command)
            await self._require_current(bearer, registered=registered)
        except SnapshotRefused:
            refused = True
            raise
        finally:
            if not refused:
                self.refusals.give_back(address)
        return bearer

    async def count(self, address: str) -> None:
        """Count an upload, a new pin or a revocation by an address. Raises SnapshotRefused(TOO_MANY_REQUESTS)."""
        await self._count(Counted.UPLOADS, address, self.writes_per_hour)

    async def count_person_request(self, address: str) -> None:
        """Count a request about a person's rows, apart from the writes. Raises SnapshotRefused(TOO_MANY_REQUESTS)."""
        await self._count(Counted.PERSON_REQUESTS, address, PERSON_REQUESTS_PER_ADDRESS_HOUR)

    async def _count(self, what: Counted, address: str, per_hour: int) -> None:
        try:
            await self.store.charge(of_address(what, address, per_hour, HOUR_S), self.clock())
        except Refused as full:
            raise SnapshotRefused(TOO_MANY_REQUESTS, retry_after_s=full.retry_after_s) from None

    async def revoke(self, authorization: str | None, address: str) -> str | None:
        """Revoke the token whose CID a `/ucan/revoke` invocation contains; if it contains no CID, revoke all tokens.

        Returns the CID.
        """
        bearer = await self.bearer(authorization, address, REVOKE)
        await self.count(address)
        now = self.clock()
        # A revocation is stored until every token that is valid now has expired.
        await self.index.revoke(bearer.did, bearer.revokes, now, now + MAX_LIFETIME_S + 2 * SKEW_S)
        return bearer.revokes

    async def _require_current(self, bearer: Bearer, *, registered: bool) -> None:
        if await self.index.is_revoked(bearer.did, bearer.cids, bearer.issued_at):
            raise SnapshotRefused(TOKEN_REVOKED)
        if registered and not await self.index.is_registered(bearer.did):
            raise SnapshotRefused(DID_NOT_REGISTERED)
