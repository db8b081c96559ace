"""The audit: what happened to an identifier beyond what current rows show (the view `history` joins both)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection

    from holdfast.rules.identifiers import Identifier


def note(connection: Connection, action: str, identifier: Identifier, did: str | None, now: float) -> None:
    """Write an audit row for an identifier, whether or not it is claimed."""
    note_key(connection, action, identifier.channel.value, identifier.key, did, now)


def note_key(connection: Connection, action: str, channel: str, key: str, did: str | None, now: float) -> None:
    """As `note`, for an identifier given by its canonical key."""
    connection.execute(
        "INSERT INTO audit (at, action, channel, key, did) VALUES (?, ?, ?, ?, ?)", (now, action, channel, key, did)
    )


def note_claimed(connection: Connection, action: str, identifier_id: int, did: str, now: float) -> None:
    """As `note`, for the claimed identifier in this row."""
    connection.execute(
        "INSERT INTO audit (at, action, channel, key, did) SELECT ?, ?, channel, key, ? FROM identifiers WHERE id = ?",
        (now, action, did, identifier_id),
    )
