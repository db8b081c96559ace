"""Invitation codes that operators make, revoke and reissue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.rules.invitations import new_invitation, parse_invitation
from holdfast.rules.limits import DAY_S
from holdfast.service.operations.administration import NotFound
from holdfast.service.store.administration import StoredInvitation
from holdfast.wire.encoding import to_iso

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.rules.invitations import Invitation
    from holdfast.service.clock import Entropy
    from holdfast.service.store.administration import By
    from holdfast.service.store.port import Store

_NUMBER_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Invitations:
    """Makes codes. `keys`: the first signs, all verify; `public_url`: where people register."""

    store: Store
    keys: Sequence[bytes]
    public_url: str
    entropy: Entropy

    async def make(self, uses: int, days: int, by: By) -> dict[str, object]:
        """Return a new code, and the address of the pages that contains it."""
        code = new_invitation(self.keys[0], uses, by.now + days * DAY_S, self.entropy)
        made = parse_invitation(code, self.keys, by.now)
        assert made is not None
        await self.store.administration.invite(_stored(made, by.now), by)
        address = f"{self.public_url}/?invitation={code}"
        return {"code": code, "address": address, "uses": uses, "days": days, "number": made.number}

    async def revoke(self, code: str, by: By) -> dict[str, Any]:
        """Use up what is left of a code; return how much that was. Raises NotFound."""
        found = await self._found(code, by.now)
        left = await self.store.administration.use_up(found, by)
        return {"left": left, "expires_at": to_iso(found.expires_at)}

    async def reissue(self, code: str, days: int, by: By) -> dict[str, object]:
        """Revoke a code and return a new one for what was left of it. Raises NotFound if nothing was."""
        left = (await self.revoke(code, by))["left"]
        if not left:
            raise NotFound("nothing is left of this invitation")
        return await self.make(left, days, by)

    def plain(self, invitation: StoredInvitation) -> dict[str, object]:
        """Return an invitation for people and programs."""
        revoked = invitation.revoked_at
        return {
            "number": invitation.number,
            "uses": invitation.uses,
            "left": max(0, invitation.uses - invitation.used),
            "made_at": to_iso(invitation.made_at),
            "expires_at": to_iso(invitation.expires_at),
            "revoked_at": None if revoked is None else to_iso(revoked),
        }

    async def _found(self, code: str, now: float) -> StoredInvitation:
        """Return the invitation of a code, or of its number."""
        signed = parse_invitation(code, self.keys, now)
        if signed is not None:
            return _stored(signed, now)
        number = code.strip().lower()
        stored = await self.store.administration.invitation(number) if len(number) == _NUMBER_DIGITS else None
        if stored is None or stored.expires_at <= now:
            raise NotFound("this is not a valid invitation code of this service")
        return stored


def _stored(made: Invitation, now: float) -> StoredInvitation:
    return StoredInvitation(made.number, made.uses, float(made.expires_at), now)
