"""The audit: events of an identifier that its current rows do not show. The view `history` combines both."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection

    from holdfast.rules.identifiers import Identifier


def note(connection: Connection, action: str, identifier: Identifier, did: str | None, now: float) -> None:
    """Write an audit row for an identifier, whether or not it is claimed."""
    note_key(connection, action, identifier.channel.value, identifier.key, did, now)


def note_key(connection: Connection, action: str, channel: str, key: str, did: str | None, now: float) -> None:
    """Write an audit row for the identifier with this channel and canonical key."""
    connection.execute(
        "INSERT INTO audit (at, action, channel, key, did) VALUES (?, ?, ?, ?, ?)", (now, action, channel, key, did)
    )


def note_claimed(connection: Connection, action: str, identifier_id: int, did: str, now: float) -> None:
    """Write an audit row for the claimed identifier with this row ID."""
    connection.execute(
        "INSERT INTO audit (at, action, channel, key, did) SELECT ?, ?, channel, key, ? FROM identifiers WHERE id = ?",
        (now, action, did, identifier_id),
    )
