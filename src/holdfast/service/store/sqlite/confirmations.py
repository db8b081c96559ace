"""Confirmation of registrations: which are due for a check, when they are due again, and what the outcomes are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.confirmation import NEVER
from holdfast.rules.limits import CONFIRM_AT_LEAST_EVERY_S
from holdfast.rules.registration import Confirmation
from holdfast.service.store.sqlite import audit
from holdfast.service.store.sqlite.claims import back_to_session
from holdfast.service.store.sqlite.hashes import pack_hash, unpack_hash
from holdfast.service.store.values import PendingRegistration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from holdfast.service.store.values import LateTransaction

# The maximum number of due rows that one run sorts, which bounds its cost.
_CANDIDATES = 5000

# Each identifier's first due check comes before any second one, so that one identifier with many checks does not delay
# the others.
DUE = f"""
    SELECT credential, did, tx_hash, smart_account, channel, key, created_at, asked FROM (
        SELECT c.*, i.key, row_number() OVER (PARTITION BY identifier_id ORDER BY ask_at, c.id) AS turn
        FROM (
            SELECT * FROM credentials WHERE confirmation = 'pending' AND ask_at <= ?1
            UNION ALL SELECT * FROM credentials WHERE confirmation = 'pending' AND ask_at > ?1 + {2 * CONFIRM_AT_LEAST_EVERY_S}
                AND ask_at < {NEVER}
            ORDER BY ask_at LIMIT {_CANDIDATES}
        ) AS c JOIN identifiers AS i ON i.id = c.identifier_id
    ) ORDER BY turn, ask_at, id LIMIT ?2
"""  # noqa: E501, S608 - our own figures. The second SELECT finds checks that a clock running ahead postponed too far

# This query reads only the index of pending registrations and stops at the limit.
_JUDGED = f"FROM credentials WHERE confirmation = 'pending' AND ask_at < {NEVER}"
PENDING = (
    f"SELECT (SELECT count(*) FROM (SELECT 1 {_JUDGED} LIMIT ?1)), (SELECT min(ask_at) {_JUDGED}),"  # noqa: S608 - our own condition
    " (SELECT count(*) FROM (SELECT 1 FROM outbox LIMIT ?1)), (SELECT min(at) FROM outbox)"
)


def pending(row: tuple[str, str, bytes | str, str | None, str, str, float, int]) -> PendingRegistration:
    """Convert a row of DUE."""
    credential, did, tx_hash, account, channel, key, created_at, attempts = row
    return PendingRegistration(credential, did, unpack_hash(tx_hash), account, channel, key, created_at, attempts)


def put_off(connection: Connection, times: Sequence[tuple[str, float]]) -> None:
    """Record that these credentials were checked, and when each is due again."""
    connection.executemany(
        "UPDATE credentials SET asked = asked + 1, ask_at = ? WHERE credential = ? AND confirmation = 'pending'",
        [(at, credential) for credential, at in times],
    )


def settle(
    connection: Connection, credential: str, outcome: Confirmation, block_number: int | None, now: float
) -> bool:
    """Record the outcome; after a refusal, see `back_to_session`."""
    row = connection.execute(
        "UPDATE credentials SET confirmation = ?, block_number = coalesce(?, block_number), ask_at = 0,"
        " settled_at = ?"
        " WHERE credential = ? AND confirmation = 'pending' RETURNING identifier_id, did",
        (outcome, block_number, now, credential),
    ).fetchone()
    if row is None:
        return False
    if outcome is Confirmation.REFUSED:
        back_to_session(connection, row[0])
    audit.note_claimed(connection, outcome, row[0], row[1], now)
    return True


def add_transaction(connection: Connection, late: LateTransaction) -> bool:
    """Record the transaction of a registration that stated none; see Store."""
    row = connection.execute(
        "UPDATE credentials SET tx_hash = ?, smart_account = ?, block_number = ?, confirmation = 'confirmed',"
        " ask_at = 0, settled_at = ? WHERE credential = ? AND did = ? AND tx_hash = ? AND confirmation = 'pending'"
        " AND identifier_id = (SELECT id FROM identifiers WHERE channel = ? AND key = ?) RETURNING identifier_id",
        (
            *(pack_hash(late.tx_hash), late.smart_account, late.block_number, late.now),
            *(late.credential, late.did, pack_hash(late.instead_of)),
            *(late.identifier.channel.value, late.identifier.key),
        ),
    ).fetchone()
    if row is None:
        return False
    audit.note_claimed(connection, Confirmation.CONFIRMED, row[0], late.did, late.now)
    return True
