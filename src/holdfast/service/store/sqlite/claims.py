"""Sessions and registrations: each reads facts, applies the rule and writes rows in one transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from holdfast.rules.addresses import network_of
from holdfast.rules.bans import subjects_of
from holdfast.rules.registration import Claim, Move, RegistrationFacts, SessionFacts, Stage
from holdfast.service.store.registration_columns import COLUMNS, row_of
from holdfast.service.store.sqlite import audit
from holdfast.service.store.sqlite.hashes import pack_hash

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from holdfast.rules.identifiers import Identifier
    from holdfast.service.store.values import NewRegistration, NewSession

_COLUMNS = (*COLUMNS, "identifier_id", "in_audit")
_INSERT_CREDENTIAL = (
    f"INSERT INTO credentials ({', '.join(_COLUMNS)})"  # noqa: S608 - our own names
    f" VALUES ({', '.join(f':{name}' for name in _COLUMNS)})"
)


class _Claimed(NamedTuple):
    """The row of a claimed identifier: its ID, the claim, and the address that opened the session."""

    row_id: int
    claim: Claim
    opener: str


def open_session(connection: Connection, session: NewSession, decide: Callable[[SessionFacts], None]) -> None:
    """Write a session if `decide` admits it, and count the session for its address."""
    registrations, of_network, did, stage = connection.execute(
        "SELECT coalesce((SELECT registrations FROM ip_counters WHERE ip = ?), 0),"
        " coalesce((SELECT registrations FROM ip_counters WHERE ip = ?), 0), did, stage"
        " FROM (SELECT 1) LEFT JOIN identifiers ON channel = ? AND key = ?",
        (session.ip, network_of(session.ip), session.identifier.channel.value, session.identifier.key),
    ).fetchone()
    claim = Claim(did, Stage(stage)) if did else None
    decide(
        SessionFacts(
            claim, registrations, of_network, banned(connection, session.identifier, session.did, session.network)
        )
    )
    _insert_claim(connection, session.identifier, session.did, session.ip, session.now)


def register(
    connection: Connection, registration: NewRegistration, decide: Callable[[RegistrationFacts], Move]
) -> None:
    """Write a registration if `decide` admits it: claim the identifier, add the credential, consume the attestation."""
    claimed = _claim(connection, registration.identifier)
    move = decide(_registration_facts(connection, registration, claimed))
    identifier_id = _claimed(connection, registration, move, claimed)
    connection.execute(
        "UPDATE identifiers SET stage = 'registered', registered_at = coalesce(registered_at, ?) WHERE id = ?",
        (registration.now, identifier_id),
    )
    if move is Move.REPLACE:
        _remove_unsigned(connection, identifier_id, registration.now)
    _insert_credential(connection, registration, identifier_id, move)
    if registration.attestation is not None:
        connection.execute("INSERT INTO used_attestations VALUES (?, ?)", registration.attestation)
    if move is Move.DISPLACE:
        audit.note(connection, "displaced", registration.identifier, registration.request.did, registration.now)


def _claimed(connection: Connection, registration: NewRegistration, move: Move, claimed: _Claimed | None) -> int:
    """Apply the rule's decision to the identifier's claim, and return the row ID of the claim."""
    if move is Move.CLAIM:
        return _insert_claim(
            connection, registration.identifier, registration.request.did, registration.ip, registration.now
        )
    assert claimed is not None, "only what is claimed can be displaced or continued"
    if move is Move.DISPLACE:
        connection.execute(
            "UPDATE identifiers SET did = ?, in_audit = 1, signed = 0 WHERE id = ?",
            (registration.request.did, claimed.row_id),
        )
    return claimed.row_id


def release(connection: Connection, channel: str, key: str, now: float) -> bool:
    """Free an identifier: delete its claim, credentials, codes and verification, but not its audit."""
    claimed = release_claim(connection, channel, key, now)
    gone = [
        connection.execute(f"DELETE FROM {table} WHERE channel = ? AND key = ?", (channel, key)).rowcount  # noqa: S608 - our own names
        for table in ("codes", "verifications")
    ]
    if not claimed and any(gone):
        audit.note_key(connection, "released", channel, key, None, now)
    return claimed or any(gone)


def release_claim(connection: Connection, channel: str, key: str, now: float) -> bool:
    """Delete an identifier's claim and credentials, but not codes and verification, which a session does not own."""
    row = connection.execute(
        "DELETE FROM identifiers WHERE channel = ? AND key = ? RETURNING did", (channel, key)
    ).fetchone()
    if row is not None:
        audit.note_key(connection, "released", channel, key, row[0], now)
    return row is not None


def revoke_credential(connection: Connection, credential: str, now: float) -> bool:
    """Remove a credential that was not refused; see `back_to_session`."""
    row = connection.execute(
        "DELETE FROM credentials WHERE credential = ? AND confirmation <> 'refused' RETURNING identifier_id, did",
        (credential,),
    ).fetchone()
    if row is None:
        return False
    back_to_session(connection, row[0])
    audit.note_claimed(connection, "credential_revoked", row[0], row[1], now)
    return True


def back_to_session(connection: Connection, identifier_id: int) -> None:
    """Make an identifier without any registration a session again, unless the DID's key added it."""
    connection.execute(
        "UPDATE identifiers SET stage = 'session', registered_at = NULL WHERE id = ? AND NOT signed AND NOT EXISTS"
        " (SELECT 1 FROM credentials WHERE identifier_id = identifiers.id AND confirmation <> 'refused')",
        (identifier_id,),
    )


def _remove_unsigned(connection: Connection, identifier_id: int, now: float) -> None:
    """Remove the credential that makes way for a signed one; see Store.register."""
    row = connection.execute(
        "DELETE FROM credentials WHERE id = (SELECT id FROM credentials WHERE identifier_id = ? AND NOT signed"
        " AND confirmation <> 'refused' ORDER BY confirmation = 'pending' DESC, created_at DESC, id DESC LIMIT 1)"
        " RETURNING did",
        (identifier_id,),
    ).fetchone()
    assert row is not None, "the rule saw one"
    audit.note_claimed(connection, "credential_displaced", identifier_id, row[0], now)


def _claim(connection: Connection, identifier: Identifier) -> _Claimed | None:
    row = connection.execute(
        "SELECT id, did, stage, ip FROM identifiers WHERE channel = ? AND key = ?",
        (identifier.channel.value, identifier.key),
    ).fetchone()
    return _Claimed(row[0], Claim(row[1], Stage(row[2])), row[3]) if row else None


def _registration_facts(
    connection: Connection, registration: NewRegistration, claimed: _Claimed | None
) -> RegistrationFacts:
    registered = connection.execute(
        "SELECT 1 FROM credentials WHERE credential = ? AND confirmation <> 'refused'",
        (registration.request.credential_id,),
    ).fetchone()
    used = (
        registration.attestation
        and connection.execute(
            "SELECT 1 FROM used_attestations WHERE signature = ?", registration.attestation[:1]
        ).fetchone()
    )
    counts = _credentials_of(connection, claimed.row_id) if claimed else {}
    return RegistrationFacts(
        claim=claimed.claim if claimed else None,
        registrations_from_ip=_registrations(connection, registration.ip),
        credential_registered=bool(registered),
        attestation_used=bool(used),
        registrations_from_network=_registrations(connection, network_of(registration.ip)),
        from_opener=claimed is not None and claimed.opener == registration.ip,
        banned=banned(connection, registration.identifier, registration.request.did, registration.network),
        **counts,
    )


def banned(connection: Connection, identifier: Identifier, did: str, network: str) -> str | None:
    """Return the first subject of a request that is banned."""
    if connection.execute("SELECT 1 FROM bans LIMIT 1").fetchone() is None:
        return None
    statement = "SELECT min(subject) FROM bans WHERE subject IN (SELECT value FROM json_each(?))"
    subjects = json.dumps(subjects_of(identifier, did, network))
    found: str | None = connection.execute(statement, (subjects,)).fetchone()[0]
    return found


def _credentials_of(connection: Connection, identifier_id: int) -> dict[str, int]:
    """Return how many credentials an identifier has that were not refused, as the rule counts them."""
    row = connection.execute(
        "SELECT count(*), coalesce(sum(confirmation = 'pending'), 0), coalesce(sum(signed), 0),"
        " coalesce(sum(signed AND confirmation = 'pending'), 0) FROM credentials"
        " WHERE identifier_id = ? AND confirmation <> 'refused'",
        (identifier_id,),
    ).fetchone()
    return dict(zip(("credentials", "unconfirmed", "signed", "signed_unconfirmed"), row, strict=True))


def _registrations(connection: Connection, ip: str | None) -> int:
    row = connection.execute("SELECT registrations FROM ip_counters WHERE ip = ?", (ip,)).fetchone()
    return int(row[0]) if row else 0


def _insert_claim(connection: Connection, identifier: Identifier, did: str, ip: str, now: float) -> int:
    cursor = connection.execute(
        "INSERT INTO identifiers (channel, key, given, did, stage, ip, created_at, in_audit)"
        " VALUES (?, ?, ?, ?, 'session', ?, ?, 0)",
        (identifier.channel.value, identifier.key, given_of(identifier), did, ip, now),
    )
    network = network_of(ip)
    if network is not None:  # a trigger counts the address itself
        connection.execute(
            "INSERT INTO ip_counters VALUES (?, 1) ON CONFLICT DO UPDATE SET registrations = registrations + 1",
            (network,),
        )
    return int(cursor.lastrowid or 0)


def given_of(identifier: Identifier) -> str:
    """Return the identifier as its owner wrote it; empty if it equals the canonical key."""
    return "" if identifier.given == identifier.key else identifier.given


def _insert_credential(connection: Connection, registration: NewRegistration, identifier_id: int, move: Move) -> None:
    # A refused row for this credential is replaced, because the credential was never registered.
    connection.execute("DELETE FROM credentials WHERE credential = ?", (registration.request.credential_id,))
    row = row_of(registration)
    row["tx_hash"] = pack_hash(registration.request.tx_hash)
    connection.execute(_INSERT_CREDENTIAL, {**row, "identifier_id": identifier_id, "in_audit": move is Move.DISPLACE})
