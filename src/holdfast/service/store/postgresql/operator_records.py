"""Keys for the admin port, and invitations, in PostgreSQL."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
from typing import TYPE_CHECKING, Any

from holdfast.rules.quotas import Counted
from holdfast.rules.shards import shard_of
from holdfast.service.store.administration import AdminKey, StoredInvitation
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql.batches import Kind, LostRace
from holdfast.service.store.postgresql.tries import Tries
from holdfast.service.store.postgresql.writes.arguments import call

if TYPE_CHECKING:
    from holdfast.service.store.administration import By
    from holdfast.service.store.postgresql.batcher import Batcher


def rows_of(name: str, statement: str) -> Kind:
    """Return a kind of read that is never batched; its result is the list of rows."""
    return Kind(name, statement, lambda batch: batch[0], lambda _batch, rows: [rows], 1, repeatable=True)


def single(name: str, function: str, arguments: int) -> Kind:
    """Return a kind of write that is never batched; its result is what the database function returns."""
    return Kind(name, call(function, arguments), lambda batch: batch[0], lambda _batch, rows: [rows[0][0]], 1)


_KEY_COLUMNS = f"SELECT {', '.join(AdminKey._fields)} FROM holdfast.admin_keys"
KEY = rows_of("admin_key", f"{_KEY_COLUMNS} WHERE name = $1")
KEYS = rows_of("admin_keys", f"{_KEY_COLUMNS} ORDER BY name")
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


INVITATION = rows_of("invitation", _invitations("number = $1"))
INVITATIONS = rows_of(
    "invitations", _invitations("(made_at, number) < ($1, $2) ORDER BY made_at DESC, number DESC LIMIT $3")
)
KEEP_KEY = single("keep_admin_key", "keep_admin_key_v1", 5)
REVOKE_KEY = single("revoke_admin_key", "revoke_admin_key_v1", 3)
INVITE = single("invite", "invite_v1", 5)
USE_UP = single("use_up_invitation", "use_up_invitation_v1", 6)


class PostgresqlOperatorRecords:
    """Implements OperatorRecords."""

    def __init__(self, reads: Batcher, writes: Batcher) -> None:
        self._reads = reads
        self._writes = writes

    async def keep_key(self, key: AdminKey, by: By) -> bool:
        """See OperatorRecords."""
        return bool(await self._write(KEEP_KEY, (by.operator, key.name, key.digest, key.scopes, key.made_at)))

    async def key(self, name: str) -> AdminKey | None:
        """See OperatorRecords."""
        rows = await self._reads.ask(KEY, (name,))
        return AdminKey(*rows[0]) if rows else None

    async def keys(self) -> list[AdminKey]:
        """See OperatorRecords."""
        return [AdminKey(*row) for row in await self._reads.ask(KEYS, ())]

    async def revoke_key(self, name: str, by: By) -> bool:
        """See OperatorRecords."""
        return bool(await self._write(REVOKE_KEY, (by.operator, name, by.now)))

    async def invite(self, invitation: StoredInvitation, by: By) -> bool:
        """See OperatorRecords."""
        return bool(await self._write(INVITE, (by.operator, *invitation[:4])))

    async def use_up(self, invitation: StoredInvitation, by: By) -> int:
        """See OperatorRecords."""
        shard = shard_of(Counted.INVITATIONS.value, invitation.number)
        return int(await self._write(USE_UP, (by.operator, shard, *invitation[:3], by.now)))

    async def invitation(self, number: str) -> StoredInvitation | None:
        """See OperatorRecords."""
        rows = await self._reads.ask(INVITATION, (number,))
        return StoredInvitation(*rows[0]) if rows else None

    async def invitations(self, after: tuple[float, str] | None, limit: int) -> list[StoredInvitation]:
        """See OperatorRecords."""
        rows = await self._reads.ask(INVITATIONS, (*(after or (1e12, "")), limit))
        return [StoredInvitation(*row) for row in rows]

    async def _write(self, kind: Kind, values: tuple[Any, ...]) -> Any:
        for _ in Tries():
            try:
                return await self._writes.ask(kind, values)
            except LostRace:
                continue
        raise StoreUnavailable("too many others wrote the same rows")
