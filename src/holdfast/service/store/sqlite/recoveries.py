"""Requests for the service's signature as a guardian, and mails about recoveries, in the embedded store's file."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
from typing import TYPE_CHECKING

from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.service.store.recoveries import FINISHED, MOST_STATED, REQUESTED, RETENTION_S, STARTED, Mail, Signable
from holdfast.service.store.sqlite import audit
from holdfast.service.store.sqlite.charges import charge
from holdfast.service.store.sqlite.standing import PERHAPS_HELD, of_did
from holdfast.service.store.sqlite.upkeep import in_parts, remove

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.quotas import Quota
    from holdfast.service.store.recoveries import FinishedRecovery, NewRecovery, StartedRecovery
    from holdfast.service.store.sqlite.reader import TurnReader
    from holdfast.service.store.sqlite.writer import GroupCommitWriter

_OWNED = (
    "identifiers AS i WHERE (i.signed OR EXISTS (SELECT 1 FROM credentials AS c WHERE c.identifier_id = i.id"
    " AND c.did = i.did AND c.signed AND c.confirmation <> 'refused'))"
)
_HOLDER = f"SELECT i.did FROM {_OWNED} AND i.channel = ? AND i.key = ?"
_MINE = f"EXISTS (SELECT 1 FROM {_OWNED} AND i.channel = r.channel AND i.key = r.key AND i.did = r.did)"
NAMES = f"SELECT i.channel, i.key FROM {_OWNED} AND i.did = ?1 AND i.id IN ({PERHAPS_HELD})"
ADDRESSES = f"{NAMES} AND +i.channel = 'email'"  # without the plus sign, all addresses would be searched
_NOTE_FINISHED = (
    "INSERT INTO recovery_mails (name, recipient, did, kind, account, until, request, noted_at, due_at, sent_at)"
    " VALUES (?, '', ?, ?, ?, ?, '', ?, ?, ?) ON CONFLICT DO NOTHING"
)
_NOTE = (
    "INSERT INTO recovery_mails (name, recipient, did, kind, account, until, request, noted_at, due_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_DUE = (
    "UPDATE recovery_mails SET due_at = ?1 + max(?2, ?1 - noted_at) WHERE (name, recipient) IN ("
    "SELECT name, recipient FROM recovery_mails WHERE sent_at IS NULL"
    " AND (due_at <= ?1 OR due_at > ?1 + 2 * max(?2, ?1 - noted_at)) ORDER BY due_at LIMIT ?3)"
    " RETURNING name, recipient, kind, account, until, request"
)
_RETRY = "UPDATE recovery_mails SET due_at = ? WHERE name = ? AND recipient = ? AND sent_at IS NULL"
_NEWEST = (
    f"SELECT r.request, r.ready_at, r.did, r.signed_at FROM recovery_requests AS r WHERE account = ? AND owners = ?"
    f" AND nonce = ? AND confirmed_at IS NOT NULL AND {_MINE} ORDER BY confirmed_at DESC, request DESC LIMIT 1"
)


_STATED = (
    "SELECT did FROM credentials WHERE signed AND smart_account IS NOT NULL"
    " AND substr(lower(smart_account), -12) = substr(lower(?1), -12) AND lower(smart_account) = lower(?1)"
    " GROUP BY did ORDER BY min(created_at) LIMIT ?2"
)


class SqliteRecoveries:
    """Implements Recoveries: point reads on the calling thread, writes by the store's group commit."""

    def __init__(self, reader: TurnReader, writer: GroupCommitWriter) -> None:
        self._read = reader
        self._writer = writer

    async def holder(self, identifier: Identifier) -> str | None:
        """See Recoveries."""
        row = self._read.one(_HOLDER, identifier.channel.value, identifier.key)
        return row[0] if row else None

    async def keep(self, new: NewRecovery) -> None:
        """See Recoveries."""
        await self._writer.write(_keep, new)

    async def count_attempt(
        self, request: str, quotas: Sequence[Quota], now: float, limit: int
    ) -> CountedAttempt | None:
        """See Recoveries."""
        return await self._writer.write(_count, request, quotas, now, limit)

    async def confirm(self, request: str, now: float, ready_at: float) -> str | None:
        """See Recoveries."""
        return await self._writer.write(_confirm, request, now, ready_at)

    async def stop(self, request: str, now: float) -> bool:
        """See Recoveries."""
        return await self._writer.write(_stop, request, now)

    async def signable(self, account: str, owners: str, nonce: int, now: float) -> Signable | None:
        """See Recoveries."""
        row = self._read.one(_NEWEST, account, owners, nonce)
        if row is None or row[1] > now or row[3] is not None:
            return Signable(row[1], row[2]) if row else None
        return await self._writer.write(_sign, (account, owners, nonce), now)

    async def note_started(self, started: StartedRecovery, now: float) -> int:
        """See Recoveries."""
        return await self._writer.write(_note_started, started, now)

    async def note_finished(self, finished: FinishedRecovery, now: float) -> int:
        """See Recoveries."""
        return await self._writer.write(_note_finished, finished, now)

    async def take_mails(self, now: float, lease_s: float, limit: int) -> list[Mail]:
        """See Recoveries."""
        return await self._writer.write(_take, now, lease_s, limit)

    async def sent(self, mail: Mail, now: float) -> None:
        """See Recoveries."""
        await self._writer.write(_sent, mail, now)

    async def retry_mail(self, mail: Mail, due_at: float) -> None:
        """See Recoveries."""
        await self._writer.write(_retry, mail, due_at)

    async def dids_of(self, account: str) -> list[str]:
        """See Recoveries."""
        return [did for (did,) in self._read.all(_STATED, account, MOST_STATED)]

    async def expire(self, now: float) -> int:
        """See Recoveries."""
        return await in_parts(self._writer, _expire, now)


def _keep(connection: Connection, new: NewRecovery) -> None:
    channel, key = new.identifier.channel.value, new.identifier.key
    connection.execute(
        "INSERT INTO recovery_requests (request, did, channel, key, account, owners, nonce, digest, asked_at,"
        " expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(new.request, new.did, channel, key, new.account, new.owners, new.nonce, new.digest),
            *(new.now, new.expires_at),
        ),
    )
    audit.note(connection, "recovery_asked", new.identifier, new.did, new.now)


def _count(
    connection: Connection, request: str, quotas: Sequence[Quota], now: float, limit: int
) -> CountedAttempt | None:
    charge(connection, quotas, now)
    row = connection.execute(
        "UPDATE recovery_requests SET attempts = min(attempts + 1, ? + 1) WHERE request = ? AND confirmed_at IS NULL"
        " RETURNING digest, expires_at, attempts",
        (limit, request),
    ).fetchone()
    return CountedAttempt(0, *row) if row else None


def _confirm(connection: Connection, request: str, now: float, ready_at: float) -> str | None:
    row = connection.execute(
        "UPDATE recovery_requests AS r SET confirmed_at = ?, ready_at = ? WHERE request = ? AND confirmed_at IS NULL"
        f" AND {_MINE} RETURNING did, channel, key, account",
        (now, ready_at, request),
    ).fetchone()
    if row is None:
        return None
    did, channel, key = row[:3]
    account: str = row[3]
    _note(connection, did, (request, REQUESTED, account, ready_at, request), now)
    audit.note_key(connection, "recovery_confirmed", channel, key, did, now)
    return account


def _stop(connection: Connection, request: str, now: float) -> bool:
    row = connection.execute(
        "DELETE FROM recovery_requests WHERE request = ? RETURNING channel, key, did", (request,)
    ).fetchone()
    if row is None:
        return False
    channel, key, did = row
    audit.note_key(connection, "recovery_stopped", channel, key, did, now)
    return True


def _sign(connection: Connection, of: tuple[str, str, int], now: float) -> Signable | None:
    row = connection.execute(_NEWEST, of).fetchone()
    if row is None:
        return None
    request, ready_at, did, _ = row
    signed = connection.execute(
        "UPDATE recovery_requests SET signed_at = ? WHERE request = ? AND signed_at IS NULL AND ready_at <= ?"
        " RETURNING channel, key, did",
        (now, request, now),
    ).fetchone()
    if signed is not None:
        channel, key, did = signed
        audit.note_key(connection, "recovery_signed", channel, key, did, now)
    return Signable(ready_at, did)


def _note_started(connection: Connection, started: StartedRecovery, now: float) -> int:
    return _note(connection, started.did, (started.name, STARTED, started.account, started.until, ""), now)


def _note_finished(connection: Connection, finished: FinishedRecovery, now: float) -> int:
    names = connection.execute(NAMES, (finished.did,)).fetchall()
    row = (finished.name, finished.did, FINISHED, finished.account, now, now, now, now)
    if not names or not connection.execute(_NOTE_FINISHED, row).rowcount:
        return 0
    for channel, key in names:
        audit.note_key(connection, "recovered", channel, key, finished.did, now)
    return len(names)


def _note(connection: Connection, did: str, mail: tuple[str, str, str, float, str], now: float) -> int:
    """Note a mail (name, kind, account, until, request) to each address that has none; return how many."""
    name, *more = mail
    addresses = connection.execute(ADDRESSES, (did,)).fetchall()
    return sum(connection.execute(_NOTE, (name, to, did, *more, now, now)).rowcount for _, to in addresses)


def _take(connection: Connection, now: float, lease_s: float, limit: int) -> list[Mail]:
    return [Mail(*row) for row in connection.execute(_DUE, (now, lease_s, limit)).fetchall()]


def _sent(connection: Connection, mail: Mail, now: float) -> None:
    connection.execute(
        "UPDATE recovery_mails SET sent_at = ? WHERE name = ? AND recipient = ?", (now, mail.name, mail.recipient)
    )


def _retry(connection: Connection, mail: Mail, due_at: float) -> None:
    connection.execute(_RETRY, (due_at, mail.name, mail.recipient))


def _expire(connection: Connection, now: float, most: int) -> int:
    horizon = now - RETENTION_S
    requests = remove(connection, "recovery_requests", "request", "asked_at < ?", horizon, most)
    return requests + remove(connection, "recovery_mails", "name, recipient", "noted_at < ?", horizon, most)


def forget(connection: Connection, did: str, channel: str | None = None, key: str | None = None) -> None:
    """Remove all requests and mails of a DID; of one identifier only, if it is given."""
    of = of_did("did")
    connection.execute(
        f"DELETE FROM recovery_requests WHERE {of} AND (?3 IS NULL OR (channel = ?2 AND key = ?3))", (did, channel, key)
    )
    connection.execute(
        f"DELETE FROM recovery_mails WHERE {of} AND (?3 IS NULL OR (?2 = 'email' AND recipient = ?3))",
        (did, channel, key),
    )
