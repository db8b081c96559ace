"""Each write of the embedded store: facts, the rule's decision, the rows, inside the transaction of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.addresses import network_of
from holdfast.rules.limits import DAY_S, HOUR_S, REFUSED_KEPT_S
from holdfast.rules.one_time_codes import Attempts, CountedAttempt, count
from holdfast.rules.registration import Claim, Confirmation, Move, RegistrationFacts, SessionFacts, Stage
from holdfast.service.store.sqlite.charges import charge

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from holdfast.rules.identifiers import Identifier
    from holdfast.service.store.port import NewAttempt, NewCode, NewRegistration, NewSession

# What is over stays this much longer, so that a clock set back meets the rows that it expects.
_CLOCK_MARGIN_S = HOUR_S


def open_session(connection: Connection, session: NewSession, decide: Callable[[SessionFacts], None]) -> None:
    """Write an admitted session and charge its address."""
    registrations, of_network, did, stage = connection.execute(
        "SELECT coalesce((SELECT registrations FROM ip_counters WHERE ip = ?), 0),"
        " coalesce((SELECT registrations FROM ip_counters WHERE ip = ?), 0), did, stage"
        " FROM (SELECT 1) LEFT JOIN identifiers ON channel = ? AND key = ?",
        (session.ip, network_of(session.ip), session.identifier.channel.value, session.identifier.key),
    ).fetchone()
    decide(SessionFacts(Claim(did, Stage(stage)) if did else None, registrations, of_network))
    _insert_claim(connection, session.identifier, session.did, session.ip, session.now)


def register(
    connection: Connection, registration: NewRegistration, decide: Callable[[RegistrationFacts], Move]
) -> None:
    """Write an admitted registration: claim the identifier, add the credential, use the attestation up."""
    claim = _claim(connection, registration.identifier)
    move = decide(_registration_facts(connection, registration, claim))
    identifier_id = _claimed(connection, registration, move, claim)
    connection.execute(
        "UPDATE identifiers SET stage = 'registered', registered_at = coalesce(registered_at, ?) WHERE id = ?",
        (registration.now, identifier_id),
    )
    _insert_credential(connection, registration, identifier_id)
    if registration.attestation is not None:
        connection.execute("INSERT INTO used_attestations VALUES (?, ?)", registration.attestation)
    action = "displaced" if move is Move.DISPLACE else "registered"
    _audit(connection, action, registration.identifier, registration.asked.did, registration.now)


def _claimed(connection: Connection, registration: NewRegistration, move: Move, claim: tuple[int, Claim] | None) -> int:
    """The row of the identifier, after the move that was decided."""
    if move is Move.CLAIM:
        return _insert_claim(
            connection, registration.identifier, registration.asked.did, registration.ip, registration.now
        )
    assert claim is not None, "only what is claimed can be displaced or continued"
    if move is Move.DISPLACE:
        connection.execute("UPDATE identifiers SET did = ? WHERE id = ?", (registration.asked.did, claim[0]))
    return claim[0]


def keep_code(connection: Connection, code: NewCode) -> None:
    """Replace the identifier's code."""
    channel, key = code.identifier.channel.value, code.identifier.key
    connection.execute("DELETE FROM codes WHERE channel = ? AND key = ?", (channel, key))
    connection.execute(
        "INSERT INTO codes (channel, key, digest, sent_at, expires_at, ip) VALUES (?, ?, ?, ?, ?, ?)",
        (channel, key, code.digest, code.now, code.expires_at, code.ip),
    )
    _audit(connection, "code_sent", code.identifier, None, code.now)


def count_attempt(connection: Connection, attempt: NewAttempt) -> CountedAttempt | None:
    """Count an attempt on its address and on a live code; an expired code is returned as it stands."""
    charge(connection, attempt.quotas, attempt.now)
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


def expire(connection: Connection, now: float) -> int:
    """Remove codes, used marks and charges that no rule looks at any more, and what the chain refused long ago."""
    horizon = now - _CLOCK_MARGIN_S
    statements = (
        ("DELETE FROM codes WHERE expires_at < ?", horizon),
        ("DELETE FROM used_attestations WHERE expires_at < ?", horizon),
        ("DELETE FROM charges WHERE at < ?", horizon - DAY_S),
        ("DELETE FROM credentials WHERE confirmation = 'refused' AND settled_at < ?", horizon - REFUSED_KEPT_S),
        ("DELETE FROM audit WHERE action IN ('code_sent', 'refused') AND at < ?", horizon - REFUSED_KEPT_S),
    )
    return sum(connection.execute(statement, (limit,)).rowcount for statement, limit in statements)


def take_lease(connection: Connection, name: str, holder: str, now: float, ttl_s: float) -> bool:
    """Take a lease that is free, over or this holder's, or whose end is so late that a wrong clock must have set it."""
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


def _registrations(connection: Connection, ip: str | None) -> int:
    row = connection.execute("SELECT registrations FROM ip_counters WHERE ip = ?", (ip,)).fetchone()
    return int(row[0]) if row else 0


def _registration_facts(
    connection: Connection, registration: NewRegistration, claim: tuple[int, Claim] | None
) -> RegistrationFacts:
    registered = connection.execute(
        "SELECT 1 FROM credentials WHERE credential = ? AND confirmation <> 'refused'",
        (registration.asked.credential_id,),
    ).fetchone()
    used = (
        registration.attestation
        and connection.execute(
            "SELECT 1 FROM used_attestations WHERE signature = ?", registration.attestation[:1]
        ).fetchone()
    )
    credentials, unconfirmed = _credentials_of(connection, claim[0]) if claim else (0, 0)
    return RegistrationFacts(
        claim=claim[1] if claim else None,
        registrations_from_ip=_registrations(connection, registration.ip),
        credential_registered=bool(registered),
        attestation_used=bool(used),
        registrations_from_network=_registrations(connection, network_of(registration.ip)),
        credentials=credentials,
        unconfirmed=unconfirmed,
    )


def _credentials_of(connection: Connection, identifier_id: int) -> tuple[int, int]:
    """How many credentials an identifier has, and how many of them wait for the chain; refused ones do not count."""
    row = connection.execute(
        "SELECT count(*), coalesce(sum(confirmation = 'pending'), 0) FROM credentials"
        " WHERE identifier_id = ? AND confirmation <> 'refused'",
        (identifier_id,),
    ).fetchone()
    return row[0], row[1]


def _insert_claim(connection: Connection, identifier: Identifier, did: str, ip: str, now: float) -> int:
    cursor = connection.execute(
        "INSERT INTO identifiers (channel, key, given, did, stage, ip, created_at)"
        " VALUES (?, ?, ?, ?, 'session', ?, ?)",
        (identifier.channel.value, identifier.key, identifier.given, did, ip, now),
    )
    network = network_of(ip)
    if network is not None:  # the trigger charges the address itself
        connection.execute(
            "INSERT INTO ip_counters VALUES (?, 1) ON CONFLICT DO UPDATE SET registrations = registrations + 1",
            (network,),
        )
    return int(cursor.lastrowid or 0)


def _insert_credential(connection: Connection, registration: NewRegistration, identifier_id: int) -> None:
    # A row that the chain refused makes way: its credential was never registered.
    connection.execute("DELETE FROM credentials WHERE credential = ?", (registration.asked.credential_id,))
    connection.execute(
        "INSERT INTO credentials (credential, identifier_id, identifier, channel, did, tx_hash, block_number,"
        " smart_account, created_at, ask_at, confirmation, settled_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            registration.asked.credential_id,
            identifier_id,
            registration.identifier.given,
            registration.identifier.channel.value,
            registration.asked.did,
            registration.asked.tx_hash,
            registration.asked.block_number,
            registration.asked.smart_account,
            registration.now,
            registration.now,
            registration.confirmation,
            None if registration.confirmation is Confirmation.PENDING else registration.now,
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
