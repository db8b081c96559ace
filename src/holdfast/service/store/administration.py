"""The Administration port: what operators look at and change."""

from __future__ import annotations

from math import inf, nextafter
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

if TYPE_CHECKING:
    from holdfast.rules.identifiers import Identifier
    from holdfast.service.store.persons import Removal, Removed


class Listed(msgspec.Struct, frozen=True, gc=False):
    """One claimed identifier.

    Attributes:
        ip: the hash of the address that opened its session.
        confirmed: how many of its credentials the chain has confirmed.
        pending: how many wait for the chain.
    """

    channel: str
    key: str
    given: str
    did: str
    stage: str
    ip: str
    created_at: float
    registered_at: float | None
    confirmed: int
    pending: int


class Scan(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Which identifiers are read, in which order.

    With `prefix`, those of `channel` whose key begins with it, by key; otherwise all, or with `did` those of a DID, the
    newest first.

    Attributes:
        since: the earliest time of creation; `until`: the time before which it was.
        after: the last identifier that was read before: creation, channel and key.
    """

    did: str | None = None
    channel: str = "handle"
    prefix: str | None = None
    since: float = 0.0
    until: float = 1e12
    after: tuple[float, str, str] | None = None


_LAST = "\U0010ffff"  # after every character of a key; the first that a key may contain is after _FIRST
_FIRST = "\x01"


def key_range(scan: Scan, prefix: str) -> tuple[str, str]:
    """Return the first key of a scan by key, and the one before which it ends: one bound each, as indexes need it."""
    return (max(prefix, scan.after[2] + _FIRST) if scan.after else prefix), prefix + _LAST


def time_range(scan: Scan) -> tuple[float, float, float, str, str]:
    """Return the earliest and latest time of a scan by time, and creation, channel and key before which it begins."""
    latest = nextafter(scan.until, -inf)
    if scan.after is None or scan.after[0] > latest:
        return scan.since, latest, latest, _LAST, _LAST
    return scan.since, scan.after[0], *scan.after


class DayCount(NamedTuple):
    """How many identifiers of a channel were claimed on a day (UTC), and how many of them are registered now."""

    day: int
    channel: str
    claimed: int
    registered: int


class Ban(NamedTuple):
    """A ban: its subject (rules/bans.py), since when, and why."""

    subject: str
    at: float
    reason: str


class Act(NamedTuple):
    """An operator's act, as the audit has it."""

    id: str
    at: float
    operator: str
    action: str
    channel: str
    key: str
    did: str | None


class By(NamedTuple):
    """Who acts, and when in seconds since the epoch."""

    operator: str
    now: float


class AdminKey(NamedTuple):
    """A key for the admin port. A revoked one stays, so that its name in the audit means one key.

    Attributes:
        digest: SHA-256 of its secret.
        scopes: separated by spaces.
        made_at: in seconds since the epoch, as `revoked_at` is.
    """

    name: str
    digest: bytes
    scopes: str
    made_at: float
    revoked_at: float | None = None


class StoredInvitation(NamedTuple):
    """An invitation code without what signs it.

    Attributes:
        number: its random number in hex (rules/invitations.py).
        used: how many registrations it admitted; once it is revoked, `uses` or more.
    """

    number: str
    uses: int
    expires_at: float
    made_at: float
    revoked_at: float | None = None
    used: int = 0


class KeyRevoked(Exception):
    """The admin key with which an operator acts was revoked, so nothing was changed."""


class OperatorRecords(Protocol):
    """Keys for the admin port, and invitations."""

    async def keep_key(self, key: AdminKey, by: By) -> bool:
        """Store a key; False if the name was ever used."""
        ...

    async def key(self, name: str) -> AdminKey | None:
        """Return the key with this name."""
        ...

    async def keys(self) -> list[AdminKey]:
        """Return all keys by name."""
        ...

    async def revoke_key(self, name: str, by: By) -> bool:
        """Revoke a key; False if none with this name is in force."""
        ...

    async def invite(self, invitation: StoredInvitation, by: By) -> bool:
        """Store an invitation that was made; False if its number is stored."""
        ...

    async def use_up(self, invitation: StoredInvitation, by: By) -> int:
        """Use up what is left of an invitation, also while some of its uses are being given back; return how much was.

        It need not be stored.
        """
        ...

    async def invitation(self, number: str) -> StoredInvitation | None:
        """Return an invitation."""
        ...

    async def invitations(self, after: tuple[float, str] | None, limit: int) -> list[StoredInvitation]:
        """Return invitations, the latest first; `after`: time and number of the last one that was read before."""
        ...


class Administration(OperatorRecords, Protocol):
    """Operators' tasks. Each change names the operator in the audit, in the same transaction.

    Every method raises StoreUnavailable if the store cannot be reached; those that take `By` raise KeyRevoked, and
    change nothing, if the operator's key is revoked at the moment of the change.
    """

    async def scan(self, scan: Scan, limit: int) -> list[Listed]:
        """Return claimed identifiers. The cost grows with `limit` alone."""
        ...

    async def count_day(self, since: float, until: float) -> list[DayCount]:
        """Count what was claimed in this time. The cost grows with the count."""
        ...

    async def acts(self, after: tuple[float, str] | None, limit: int) -> list[Act]:
        """Return operators' acts, the latest first; `after`: time and ID of the last one that was read before."""
        ...

    async def bans(self, after: str, limit: int) -> list[Ban]:
        """Return bans by subject; `after`: the last one that was read before."""
        ...

    async def ban(self, subject: str, reason: str, by: By) -> bool:
        """Ban a subject; False if it is banned already."""
        ...

    async def lift(self, subject: str, by: By) -> bool:
        """Lift a ban; False if the subject is not banned."""
        ...

    async def release(self, channel: str, key: str, by: By) -> bool:
        """Free an identifier, as `Store.release` does."""
        ...

    async def revoke(self, credential: str, by: By) -> bool:
        """Remove a credential's registration, as `Store.revoke_credential` does."""
        ...

    async def transfer(self, channel: str, key: str, did: str, by: By) -> bool:
        """Give a claimed identifier to another DID, whose session it becomes, without credentials.

        False if it is not claimed, or already that DID's.
        """
        ...

    async def rename(self, channel: str, key: str, new: Identifier, by: By) -> bool:
        """Give a claim another name, with its credentials.

        False if it is not claimed, the new name is, or one of its credentials waits for the chain.
        """
        ...

    async def erase(self, removal: Removal, by: By) -> Removed:
        """Remove everything of a person, as `Store.take_back` does, with a row about it that has a hash of the DID."""
        ...
