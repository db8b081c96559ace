"""Keys for the admin port, and invitations, in PostgreSQL."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
from typing import TYPE_CHECKING

from holdfast.rules.quotas import Counted
from holdfast.rules.shards import shard_of
from holdfast.service.store.administration import AdminKey, StoredInvitation
from holdfast.service.store.postgresql.batches import rows_of, value_of
from holdfast.service.store.postgresql.writes.arguments import call

if TYPE_CHECKING:
    from holdfast.service.store.administration import By
    from holdfast.service.store.postgresql.batcher import Batcher


_KEY_COLUMNS = f"SELECT {', '.join(AdminKey._fields)} FROM holdfast.admin_keys"
KEY = rows_of("admin_key", f"{_KEY_COLUMNS} WHERE name = $1", AdminKey)
KEYS = rows_of("admin_keys", f"{_KEY_COLUMNS} ORDER BY name", AdminKey)
_COLUMNS = ", ".join(StoredInvitation._fields[:-1])


def _invitations(which: str) -> str:
    """Return a statement that reads some invitations, newest first, and how often each was used."""
    return (
        f"WITH i AS MATERIALIZED (SELECT {_COLUMNS} FROM holdfast.invitations WHERE {which}),"
        " counted AS MATERIALIZED (SELECT w.subject, w.counts FROM holdfast.windows AS w JOIN i"
        f" ON w.shard = holdfast.shard_of_name_v1('{Counted.INVITATIONS}', i.number)"
        f" AND w.what = '{Counted.INVITATIONS}' AND w.subject = i.number)"
        " SELECT i.*, coalesce((SELECT sum(n.many)::int FROM unnest(c.counts) AS n (many)), 0)"
        " FROM i LEFT JOIN counted AS c ON c.subject = i.number ORDER BY i.made_at DESC, i.number DESC"
    )


INVITATION = rows_of("invitation", _invitations("number = $1"), StoredInvitation)
INVITATIONS = rows_of(
    "invitations",
    _invitations("(made_at, number) < ($1, $2) ORDER BY made_at DESC, number DESC LIMIT $3"),
    StoredInvitation,
)
KEEP_KEY = value_of("keep_admin_key", call("keep_admin_key_v1", 5), bool)
REVOKE_KEY = value_of("revoke_admin_key", call("revoke_admin_key_v1", 3), bool)
INVITE = value_of("invite", call("invite_v1", 5), bool)
USE_UP = value_of("use_up_invitation", call("use_up_invitation_v1", 6), int)


class PostgresqlOperatorRecords:
    """Implements OperatorRecords."""

    def __init__(self, reads: Batcher, writes: Batcher) -> None:
        self._reads = reads
        self._writes = writes

    async def keep_key(self, key: AdminKey, by: By) -> bool:
        """See OperatorRecords."""
        return await self._writes.insist(KEEP_KEY, (by.operator, key.name, key.digest, key.scopes, key.made_at))

    async def key(self, name: str) -> AdminKey | None:
        """See OperatorRecords."""
        rows = await self._reads.ask(KEY, (name,))
        return rows[0] if rows else None

    async def keys(self) -> list[AdminKey]:
        """See OperatorRecords."""
        return await self._reads.ask(KEYS, ())

    async def revoke_key(self, name: str, by: By) -> bool:
        """See OperatorRecords."""
        return await self._writes.insist(REVOKE_KEY, (by.operator, name, by.now))

    async def invite(self, invitation: StoredInvitation, by: By) -> bool:
        """See OperatorRecords."""
        return await self._writes.insist(INVITE, (by.operator, *invitation[:4]))

    async def use_up(self, invitation: StoredInvitation, by: By) -> int:
        """See OperatorRecords."""
        shard = shard_of(Counted.INVITATIONS.value, invitation.number)
        return await self._writes.insist(USE_UP, (by.operator, shard, *invitation[:3], by.now))

    async def invitation(self, number: str) -> StoredInvitation | None:
        """See OperatorRecords."""
        rows = await self._reads.ask(INVITATION, (number,))
        return rows[0] if rows else None

    async def invitations(self, after: tuple[float, str] | None, limit: int) -> list[StoredInvitation]:
        """See OperatorRecords."""
        return await self._reads.ask(INVITATIONS, (*(after or (1e12, "")), limit))
