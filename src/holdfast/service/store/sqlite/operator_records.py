"""Keys for the admin port, and invitations, in the embedded store."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from holdfast.rules.admin_keys import BY_KEY
from holdfast.rules.quotas import Counted
from holdfast.service.store.administration import AdminKey, KeyRevoked, StoredInvitation
from holdfast.service.store.sqlite import audit
from holdfast.service.store.sqlite.reader import read_apart

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from sqlite3 import Connection

    from holdfast.service.store.administration import By
    from holdfast.service.store.sqlite.writer import GroupCommitWriter

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
_KEYS = f"SELECT {', '.join(AdminKey._fields)} FROM admin_keys"
_STORED = StoredInvitation._fields[:-1]
_USED = f"SELECT count(*) FROM charges WHERE what = '{Counted.INVITATIONS}' AND subject = number"
_INVITATIONS = f"SELECT {', '.join(_STORED)}, ({_USED}) FROM invitations"
NEWEST_INVITATIONS = f"{_INVITATIONS} WHERE (made_at, number) < (?, ?) ORDER BY made_at DESC, number DESC LIMIT ?"


class SqliteOperatorRecords:
    """Implements OperatorRecords: reads on threads, because they may be long, writes by the store's group commit."""

    def __init__(self, file: Path, writer: GroupCommitWriter) -> None:
        self._file = file
        self._writer = writer

    async def keep_key(self, key: AdminKey, by: By) -> bool:
        """See OperatorRecords."""
        return await self._write(by, _keep_key, key)

    async def key(self, name: str) -> AdminKey | None:
        """See OperatorRecords."""
        rows = await self._rows(f"{_KEYS} WHERE name = ?", name)
        return AdminKey(*rows[0]) if rows else None

    async def keys(self) -> list[AdminKey]:
        """See OperatorRecords."""
        return [AdminKey(*row) for row in await self._rows(f"{_KEYS} ORDER BY name")]

    async def revoke_key(self, name: str, by: By) -> bool:
        """See OperatorRecords."""
        return await self._write(by, _revoke_key, name, by.now)

    async def invite(self, invitation: StoredInvitation, by: By) -> bool:
        """See OperatorRecords."""
        return await self._write(by, _invite, invitation)

    async def use_up(self, invitation: StoredInvitation, by: By) -> int:
        """See OperatorRecords."""
        return await self._write(by, _use_up, invitation, by.now)

    async def invitation(self, number: str) -> StoredInvitation | None:
        """See OperatorRecords."""
        rows = await self._rows(f"{_INVITATIONS} WHERE number = ?", number)
        return StoredInvitation(*rows[0]) if rows else None

    async def invitations(self, after: tuple[float, str] | None, limit: int) -> list[StoredInvitation]:
        """See OperatorRecords."""
        return [StoredInvitation(*row) for row in await self._rows(NEWEST_INVITATIONS, *(after or (1e12, "")), limit)]

    async def _rows(self, statement: str, *parameters: object) -> list[Any]:
        return await read_apart(self._file, statement, *parameters)

    async def _write(self, by: By, work: Callable[[Connection, *Arguments], T], *arguments: *Arguments) -> T:
        return await self._writer.write(_by_operator, by.operator, work, *arguments)


def _by_operator(
    connection: Connection, operator: str, work: Callable[[Connection, *Arguments], T], *arguments: *Arguments
) -> T:
    """Do the work, and name the operator in the audit's rows that it wrote: only one thread writes.

    Rows of earlier events, which the work only moved into the audit, stay without an operator.
    """
    _require_key(connection, operator)
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM audit").fetchone()
    result = work(connection, *arguments)
    named = "UPDATE audit SET operator = ? WHERE id > ? AND action NOT IN ('session', 'registered')"
    connection.execute(named, (operator, last))
    return result


def _require_key(connection: Connection, operator: str) -> None:
    """Raise KeyRevoked if the operator acts with a key that is not in force."""
    if operator.startswith(BY_KEY):
        in_force = "SELECT 1 FROM admin_keys WHERE name = ? AND revoked_at IS NULL"
        if connection.execute(in_force, (operator.removeprefix(BY_KEY),)).fetchone() is None:
            raise KeyRevoked


def _keep_key(connection: Connection, key: AdminKey) -> bool:
    inserted = connection.execute("INSERT OR IGNORE INTO admin_keys VALUES (?, ?, ?, ?, ?)", key).rowcount
    if inserted:
        audit.note_key(connection, "admin_key_made", "", f"{key.name} {key.scopes}", None, key.made_at)
    return bool(inserted)


def _revoke_key(connection: Connection, name: str, now: float) -> bool:
    statement = "UPDATE admin_keys SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL"
    revoked = connection.execute(statement, (now, name)).rowcount
    if revoked:
        audit.note_key(connection, "admin_key_revoked", "", name, None, now)
    return bool(revoked)


def _invite(connection: Connection, invitation: StoredInvitation) -> bool:
    row = invitation[: len(_STORED)]
    inserted = connection.execute("INSERT OR IGNORE INTO invitations VALUES (?, ?, ?, ?, ?)", row).rowcount
    if inserted:
        audit.note_key(connection, "invited", "", invitation.number, None, invitation.made_at)
    return bool(inserted)


def _use_up(connection: Connection, invitation: StoredInvitation, now: float) -> int:
    of = (Counted.INVITATIONS.value, invitation.number)
    (used,) = connection.execute("SELECT count(*) FROM charges WHERE what = ? AND subject = ?", of).fetchone()
    left: int = max(0, invitation.uses - used)
    if left:
        # As many as it ever had: a use that is given back later leaves no room.
        rows = [(*of, invitation.expires_at)] * invitation.uses
        connection.executemany("INSERT INTO charges (what, subject, at) VALUES (?, ?, ?)", rows)
        connection.execute("UPDATE invitations SET revoked_at = ? WHERE number = ?", (now, invitation.number))
        audit.note_key(connection, "invitation_revoked", "", invitation.number, None, now)
    return left
