"""Whether the service takes new people: all of them, those with an invitation code, or none (decision 1022)."""

from __future__ import annotations

from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.invitations import parse_invitation
from holdfast.rules.quotas import Counted
from holdfast.wire.errors import INVITATION_INVALID, INVITATION_REQUIRED, REGISTRATION_CLOSED, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from holdfast.rules.identifiers import Identifier
    from holdfast.service.clock import Clock
    from holdfast.service.store.port import Charge, Store
    from holdfast.wire.errors import ErrorRow

OPEN, CLOSED = "open", "closed"
_ADMITTED = nullcontext(None)


@dataclass(frozen=True, slots=True)
class Admission:
    """Counts the uses of invitations. `mode` is HOLDFAST_REGISTRATION."""

    store: Store
    mode: str
    keys: Sequence[bytes]
    clock: Clock

    def of(self, identifier: Identifier, did: str, code: str | None) -> AbstractAsyncContextManager[ErrorRow | None]:
        """Yield why a new person is not taken with this request; None if one is.

        A use of the invitation is counted first, and given back if the body of the `with` statement raises. A DID that
        holds the identifier already uses no invitation.
        """
        # An async generator costs a tenth of a session, so a service that is open makes none.
        return _ADMITTED if self.mode == OPEN else self._counted(identifier, did, code)

    @asynccontextmanager
    async def _counted(self, identifier: Identifier, did: str, code: str | None) -> AsyncIterator[ErrorRow | None]:
        barred, charge = await self._judged(identifier, did, code)
        try:
            yield barred
        except BaseException:
            if charge is not None:
                await self.store.give_back(charge, {Counted.INVITATIONS})
            raise

    async def _judged(
        self, identifier: Identifier, did: str, code: str | None
    ) -> tuple[ErrorRow | None, Charge | None]:
        if self.mode == CLOSED:
            return REGISTRATION_CLOSED, None
        claim = await self.store.claim_of(identifier.channel.value, identifier.key)
        if not code or (claim is not None and claim.did == did):
            return INVITATION_REQUIRED, None
        invitation = parse_invitation(code, self.keys, self.clock())
        if invitation is None:
            return INVITATION_INVALID, None
        try:
            return None, await self.store.charge([invitation.quota()], invitation.expires_at)
        except Refused:  # used up
            return INVITATION_INVALID, None
