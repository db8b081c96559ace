"""One-time codes and verified identifiers in the embedded store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.one_time_codes import Attempts, CountedAttempt, count
from holdfast.service.store.sqlite import audit
from holdfast.service.store.sqlite.charges import charge
from holdfast.service.store.sqlite.repeats import note_attempt

if TYPE_CHECKING:
    from sqlite3 import Connection

    from holdfast.rules.identifiers import Identifier
    from holdfast.service.store.values import NewAttempt, NewCode


def keep_code(connection: Connection, code: NewCode) -> None:
    """Replace the identifier's code with a new one, unless the same code was sent once more."""
    channel, key = code.identifier.channel.value, code.identifier.key
    connection.execute(
        "DELETE FROM codes WHERE channel = ? AND key = ? AND (same_until <= ? OR digest <> ?)",
        (channel, key, code.now, code.digest),
    )
    connection.execute(
        "INSERT INTO codes (channel, key, digest, sent_at, expires_at, ip, same_until) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at",
        (channel, key, code.digest, code.now, code.expires_at, code.ip, code.same_until),
    )
    audit.note(connection, "code_sent", code.identifier, None, code.now)


def count_attempt(connection: Connection, attempt: NewAttempt) -> CountedAttempt | None:
    """Count an attempt for its address and, unless the code has expired, for the code."""
    charge(connection, attempt.quotas, attempt.now)
    counted = _count(connection, attempt)
    if counted is not None and attempt.repeat is not None:
        note_attempt(connection, attempt.repeat, counted)
    return counted


def _count(connection: Connection, attempt: NewAttempt) -> CountedAttempt | None:
    row = connection.execute(
        "SELECT id, digest, expires_at, attempts, attempts_by_others, ip FROM codes WHERE channel = ? AND key = ?",
        (attempt.identifier.channel.value, attempt.identifier.key),
    ).fetchone()
    if row is None:
        return None
    code_id, digest, expires_at, in_all, by_others, asker = row
    if expires_at <= attempt.now:
        return CountedAttempt(code_id, digest, expires_at, in_all)
    after, number = count(Attempts(in_all, by_others), attempt.limit, own=asker == attempt.ip)
    connection.execute(
        "UPDATE codes SET attempts = ?, attempts_by_others = ? WHERE id = ?", (after.in_all, after.by_others, code_id)
    )
    return CountedAttempt(code_id, digest, expires_at, number)


def consume_code(connection: Connection, identifier: Identifier, code_id: int, now: float) -> bool:
    """Consume the code. Of two simultaneous requests with the correct code, only one still finds the code."""
    if connection.execute("DELETE FROM codes WHERE id = ?", (code_id,)).rowcount == 0:
        return False
    mark_verified(connection, identifier, now)
    return True


def mark_verified(connection: Connection, identifier: Identifier, now: float) -> None:
    """Store when the identifier was last verified."""
    connection.execute(
        "INSERT INTO verifications VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET verified_at = excluded.verified_at",
        (identifier.channel.value, identifier.key, now),
    )
    audit.note(connection, "verified", identifier, None, now)
