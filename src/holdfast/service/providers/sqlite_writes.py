"""Each write of the embedded store: facts, the rule's decision, the rows, inside one savepoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.limits import CODES_PER_IDENTIFIER_WINDOW_S, HOUR_S, SENDS_PER_IP_WINDOW_S
from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.rules.quotas import SendFacts
from holdfast.rules.registration import Claim, Confirmation, Move, RegistrationFacts, SessionFacts, Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from holdfast.rules.identifiers import Identifier
    from holdfast.service.ports import NewRegistration, NewSend, NewSession

# What is over stays this much longer, so that a clock set back meets the rows that it expects.
_CLOCK_MARGIN_S = HOUR_S


def open_session(connection: Connection, session: NewSession, decide: Callable[[SessionFacts], None]) -> None:
    """Write an admitted session and charge its address."""
    registrations, did, stage = connection.execute(
        "SELECT coalesce((SELECT registrations FROM ip_counters WHERE ip = ?), 0), did, stage"
        " FROM (SELECT 1) LEFT JOIN identifiers ON channel = ? AND key = ?",
        (session.ip, session.identifier.channel.value, session.identifier.key),
    ).fetchone()
    decide(SessionFacts(Claim(did, Stage(stage)) if did else None, registrations))
    _insert_claim(connection, session.identifier, session.did, session.ip, session.now)


def register(
    connection: Connection, registration: NewRegistration, decide: Callable[[RegistrationFacts], Move]
) -> None:
    """Write an admitted registration: claim the identifier, add the credential, use the attestation up."""
    claim = _claim(connection, registration.identifier)
    move = decide(_registration_facts(connection, registration, claim[1] if claim else None))
    if claim is None:
        identifier_id = _insert_claim(
            connection, registration.identifier, registration.did, registration.ip, registration.now
        )
    else:
        identifier_id = claim[0]
    connection.execute(
        "UPDATE identifiers SET stage = 'registered', did = ?, registered_at = coalesce(registered_at, ?) WHERE id = ?",
        (registration.did, registration.now, identifier_id),
    )
    _insert_credential(connection, registration, identifier_id)
    if registration.attestation is not None:
        connection.execute("INSERT INTO used_attestations VALUES (?, ?)", registration.attestation)
    action = "displaced" if move is Move.DISPLACE else "registered"
    _audit(connection, action, registration.identifier, registration.did, registration.now)


def reserve_send(connection: Connection, send: NewSend, decide: Callable[[SendFacts], None]) -> int:
    """Charge an admitted send; the row's number gives it back."""
    identifier = send.identifier
    from_ip = connection.execute(
        "SELECT at FROM sends WHERE ip = ? AND at > ? ORDER BY at", (send.ip, send.now - SENDS_PER_IP_WINDOW_S)
    ).fetchall()
    to_identifier = connection.execute(
        "SELECT at FROM sends WHERE channel = ? AND key = ? AND at > ? ORDER BY at",
        (identifier.channel.value, identifier.key, send.now - CODES_PER_IDENTIFIER_WINDOW_S),
    ).fetchall()
    decide(SendFacts(send.now, _times(from_ip), _times(to_identifier) if send.counted else ()))
    cursor = connection.execute(
        "INSERT INTO sends (ip, channel, key, at) VALUES (?, ?, ?, ?)",
        (send.ip, identifier.channel.value, identifier.key, send.now),
    )
    return int(cursor.lastrowid or 0)


def keep_code(connection: Connection, identifier: Identifier, digest: bytes, now: float, expires_at: float) -> None:
    """Replace the identifier's code."""
    connection.execute("DELETE FROM codes WHERE channel = ? AND key = ?", (identifier.channel.value, identifier.key))
    connection.execute(
        "INSERT INTO codes (channel, key, digest, sent_at, expires_at) VALUES (?, ?, ?, ?, ?)",
        (identifier.channel.value, identifier.key, digest, now, expires_at),
    )
    _audit(connection, "code_sent", identifier, None, now)


def count_attempt(connection: Connection, identifier: Identifier, now: float, limit: int) -> CountedAttempt | None:
    """Count an attempt at a live code, up to one past the limit; an expired code is returned as it stands."""
    row = connection.execute(
        "UPDATE codes SET attempts = attempts + (expires_at > ? AND attempts <= ?)"
        " WHERE channel = ? AND key = ? RETURNING id, digest, expires_at, attempts",
        (now, limit, identifier.channel.value, identifier.key),
    ).fetchone()
    return CountedAttempt(*row) if row else None


def consume_code(connection: Connection, identifier: Identifier, code_id: int, now: float) -> bool:
    """Of two right answers at once, one finds the code still there."""
    if connection.execute("DELETE FROM codes WHERE id = ?", (code_id,)).rowcount == 0:
        return False
    mark_verified(connection, identifier, now)
    return True


def mark_verified(connection: Connection, identifier: Identifier, now: float) -> None:
    """Remember the latest verification."""
    connection.execute(
        "INSERT INTO verifications VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET verified_at = excluded.verified_at",
        (identifier.channel.value, identifier.key, now),
    )
    _audit(connection, "verified", identifier, None, now)


def settle(
    connection: Connection, credential: str, outcome: Confirmation, block_number: int | None, now: float
) -> bool:
    """Record the chain's word; a refusal makes the identifier a session again unless another credential holds it."""
    row = connection.execute(
        "UPDATE credentials SET confirmation = ?, block_number = coalesce(?, block_number), settled_at = ?"
        " WHERE credential = ? AND confirmation = 'pending' RETURNING identifier_id, did",
        (outcome, block_number, now, credential),
    ).fetchone()
    if row is None:
        return False
    if outcome is Confirmation.REFUSED:
        connection.execute(
            "UPDATE identifiers SET stage = 'session', registered_at = NULL WHERE id = ? AND NOT EXISTS"
            " (SELECT 1 FROM credentials WHERE identifier_id = identifiers.id AND confirmation <> 'refused')",
            (row[0],),
        )
    _audit_id(connection, outcome, row[0], row[1], now)
    return True


def expire(connection: Connection, now: float) -> int:
    """Remove codes, used marks and sends that no rule looks at any more."""
    horizon = now - _CLOCK_MARGIN_S
    statements = (
        ("DELETE FROM codes WHERE expires_at < ?", horizon),
        ("DELETE FROM used_attestations WHERE expires_at < ?", horizon),
        ("DELETE FROM sends WHERE at < ?", horizon - SENDS_PER_IP_WINDOW_S),
    )
    return sum(connection.execute(statement, (limit,)).rowcount for statement, limit in statements)


def take_lease(connection: Connection, name: str, holder: str, now: float, ttl_s: float) -> bool:
    """Take a lease that is free, over, or one's own; one that lies beyond its own length is from a wrong clock."""
    cursor = connection.execute(
        "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
        " SET holder = excluded.holder, expires_at = excluded.expires_at"
        " WHERE holder = excluded.holder OR leases.expires_at <= ? OR leases.expires_at > ?",
        (name, holder, now + ttl_s, now, now + 10 * ttl_s),
    )
    return cursor.rowcount == 1


def release(connection: Connection, channel: str, key: str, now: float) -> bool:
    """Free an identifier: its claim, credentials, codes and verification go; the audit stays."""
    row = connection.execute(
        "DELETE FROM identifiers WHERE channel = ? AND key = ? RETURNING did", (channel, key)
    ).fetchone()
    gone = [
        connection.execute(f"DELETE FROM {table} WHERE channel = ? AND key = ?", (channel, key)).rowcount  # noqa: S608 - our own names
        for table in ("codes", "verifications")
    ]
    if row is None and not any(gone):
        return False
    connection.execute(
        "INSERT INTO audit (at, action, channel, key, did) VALUES (?, 'released', ?, ?, ?)",
        (now, channel, key, row[0] if row else None),
    )
    return True


def revoke_credential(connection: Connection, credential: str, now: float) -> bool:
    """Remove a credential; an identifier left without one is a session again."""
    row = connection.execute(
        "DELETE FROM credentials WHERE credential = ? RETURNING identifier_id, did", (credential,)
    ).fetchone()
    if row is None:
        return False
    connection.execute(
        "UPDATE identifiers SET stage = 'session', registered_at = NULL WHERE id = ? AND NOT EXISTS"
        " (SELECT 1 FROM credentials WHERE identifier_id = identifiers.id)",
        (row[0],),
    )
    _audit_id(connection, "credential_revoked", row[0], row[1], now)
    return True


def _claim(connection: Connection, identifier: Identifier) -> tuple[int, Claim] | None:
    row = connection.execute(
        "SELECT id, did, stage FROM identifiers WHERE channel = ? AND key = ?",
        (identifier.channel.value, identifier.key),
    ).fetchone()
    return (row[0], Claim(row[1], Stage(row[2]))) if row else None


def _registrations(connection: Connection, ip: str) -> int:
    row = connection.execute("SELECT registrations FROM ip_counters WHERE ip = ?", (ip,)).fetchone()
    return int(row[0]) if row else 0


def _registration_facts(
    connection: Connection, registration: NewRegistration, claim: Claim | None
) -> RegistrationFacts:
    registered = connection.execute(
        "SELECT 1 FROM credentials WHERE credential = ? AND confirmation <> 'refused'", (registration.credential,)
    ).fetchone()
    used = (
        registration.attestation
        and connection.execute(
            "SELECT 1 FROM used_attestations WHERE signature = ?", registration.attestation[:1]
        ).fetchone()
    )
    return RegistrationFacts(claim, _registrations(connection, registration.ip), bool(registered), bool(used))


def _insert_claim(connection: Connection, identifier: Identifier, did: str, ip: str, now: float) -> int:
    cursor = connection.execute(
        "INSERT INTO identifiers (channel, key, given, did, stage, ip, created_at)"
        " VALUES (?, ?, ?, ?, 'session', ?, ?)",
        (identifier.channel.value, identifier.key, identifier.given, did, ip, now),
    )
    return int(cursor.lastrowid or 0)


def _insert_credential(connection: Connection, registration: NewRegistration, identifier_id: int) -> None:
    # A row that the chain refused makes way: its credential was never registered.
    connection.execute("DELETE FROM credentials WHERE credential = ?", (registration.credential,))
    connection.execute(
        "INSERT INTO credentials (credential, identifier_id, identifier, channel, did, tx_hash, block_number,"
        " smart_account, created_at, confirmation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            registration.credential,
            identifier_id,
            registration.identifier.given,
            registration.identifier.channel.value,
            registration.did,
            registration.tx_hash,
            registration.block_number,
            registration.smart_account,
            registration.now,
            registration.confirmation,
        ),
    )


def _audit(connection: Connection, action: str, identifier: Identifier, did: str | None, now: float) -> None:
    connection.execute(
        "INSERT INTO audit (at, action, channel, key, did) VALUES (?, ?, ?, ?, ?)",
        (now, action, identifier.channel.value, identifier.key, did),
    )


def _audit_id(connection: Connection, action: str, identifier_id: int, did: str, now: float) -> None:
    connection.execute(
        "INSERT INTO audit (at, action, channel, key, did) SELECT ?, ?, channel, key, ? FROM identifiers WHERE id = ?",
        (now, action, did, identifier_id),
    )


def _times(rows: list[tuple[float]]) -> list[float]:
    return [row[0] for row in rows]
