"""Keys for the admin port: made and revoked by commands, and what a request with one may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.rules.admin_keys import BY_KEY, bearer_key, is_key_name, is_same, new_key, of_admin_key, scopes_of
from holdfast.service.operations.administration import NotFound, NotPossible
from holdfast.service.store.administration import AdminKey, By
from holdfast.wire.admin_endpoints import ADMIN_KEY_REFUSED, ADMIN_SCOPE_MISSING
from holdfast.wire.encoding import to_iso
from holdfast.wire.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.store.port import Store
    from holdfast.wire.admin_endpoints import Scope


@dataclass(frozen=True, slots=True)
class AdminKeys:
    """Keeps the keys."""

    store: Store
    clock: Clock
    entropy: Entropy

    async def make(self, name: str, scopes: Sequence[str], by: By) -> str:
        """Return a new key, which is stored as a hash. Raises NotPossible for a bad or used name, or a bad scope."""
        if not is_key_name(name):
            raise NotPossible("a name has up to 32 letters a to z, digits and, between them, hyphens")
        try:
            given = scopes_of(scopes)
        except ValueError:
            raise NotPossible("scopes are one or more of read, write and erase") from None
        key, digest = new_key(name, self.entropy)
        if not await self.store.administration.keep_key(AdminKey(name, digest, given, by.now), by):
            raise NotPossible("a key had this name before, and names in the audit must stay clear: choose another")
        return key

    async def all(self) -> list[dict[str, object]]:
        """Return all keys without their hashes, by name."""
        return [_plain(key) for key in await self.store.administration.keys()]

    async def revoke(self, name: str, by: By) -> None:
        """Revoke a key. Raises NotFound."""
        if not await self.store.administration.revoke_key(name, by):
            raise NotFound("no key with this name is in force")

    async def admit(self, authorization: str | None, address: str, scope: Scope) -> By:
        """Return who acts. Raises Refused: RATE_LIMITED, ADMIN_KEY_REFUSED, or ADMIN_SCOPE_MISSING.

        Only wrong keys count, so that those who share an operator's address cannot shut the operator out. Counting and
        refusing are one step of the store.

        Args:
            authorization: the header.
            address: the hash of the client's address.
            scope: what the request needs.
        """
        now = self.clock()
        name, digest = bearer_key(authorization) or ("", b"")
        key = await self.store.administration.key(name)
        if not is_same(digest, key.digest if key else None) or key is None or key.revoked_at is not None:
            await self.store.charge(of_admin_key(address), now)
            raise Refused(ADMIN_KEY_REFUSED)
        if scope not in key.scopes.split():
            raise Refused(ADMIN_SCOPE_MISSING)
        return By(f"{BY_KEY}{name}", now)


def _plain(key: AdminKey) -> dict[str, Any]:
    revoked = None if key.revoked_at is None else to_iso(key.revoked_at)
    return {"name": key.name, "scopes": key.scopes, "made_at": to_iso(key.made_at), "revoked_at": revoked}
