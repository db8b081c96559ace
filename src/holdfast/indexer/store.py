"""What the index returns, except for rows, and its errors."""

from __future__ import annotations

from typing import NamedTuple


class StoreError(Exception):
    """The database cannot be reached or refuses the request; nothing was changed."""


class TipMoved(Exception):
    """Another process has changed the index, so its tip must be read again."""

    def __init__(self) -> None:
        super().__init__("another process has moved the index")


class AliasView(NamedTuple):
    """An alias with the controller of its DID."""

    alias_hash: bytes
    did_hash: bytes
    active: int
    block_number: int
    log_index: int
    controller: bytes | None


class StatsView(NamedTuple):
    """The counters, and the last block of the index (None while the index is empty)."""

    dids: int
    active_dids: int
    aliases: int
    accounts: int
    last_block: int | None
