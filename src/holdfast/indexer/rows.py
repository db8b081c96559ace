"""The rows of the index: one named tuple per table, in the order of the table's columns.

Hashes have 32 bytes and addresses 20 bytes, `active` is 0 or 1, and block numbers and log indexes count from 0.
"""

from __future__ import annotations

from typing import NamedTuple


class IndexedBlock(NamedTuple):
    """A block that the index has read."""

    number: int
    hash: bytes


class Event(NamedTuple):
    """One event of the registry, the factory or an account. Fields that this kind of event does not have are None."""

    block_number: int
    log_index: int
    block_hash: bytes
    tx_hash: bytes
    kind: str
    did_hash: bytes | None = None
    alias_hash: bytes | None = None
    controller: bytes | None = None
    previous_controller: bytes | None = None
    proposed_controller: bytes | None = None
    account_address: bytes | None = None
    owner_address: bytes | None = None
    key_owner: bytes | None = None
    metadata_cid: str | None = None
    active: int | None = None


class DidRow(NamedTuple):
    """A DID in its current state; the block and the transaction are those of its registration."""

    did_hash: bytes
    controller: bytes
    metadata_cid: str
    active: int
    block_number: int
    log_index: int
    tx_hash: bytes


class AliasRow(NamedTuple):
    """An alias in its current state; its controller is stored only with its DID."""

    alias_hash: bytes
    did_hash: bytes
    active: int
    block_number: int
    log_index: int
    tx_hash: bytes


class AccountRow(NamedTuple):
    """A smart account that the factory has deployed; the block and the transaction are those of its creation.

    `owner_address` identifies its first key. `generation` counts its recoveries; each ends all owners before it.
    """

    account_address: bytes
    owner_address: bytes
    generation: int
    block_number: int
    log_index: int
    tx_hash: bytes


class OwnerRow(NamedTuple):
    """An owner that an account has if their generations are equal; `id` is the account's address and `key_owner`."""

    id: bytes
    account_address: bytes
    key_owner: bytes
    generation: int


class TotalsRow(NamedTuple):
    """The counters of /api/stats, stored as one row so that they can be undone like any other row."""

    id: bytes = b""
    dids: int = 0
    active_dids: int = 0
    aliases: int = 0
    accounts: int = 0


class JournalRow(NamedTuple):
    """A row of the table `entity` before block `block_number` changed it; `before` is None for a new row."""

    block_number: int
    entity: str
    key: bytes
    before: bytes | None


Row = DidRow | AliasRow | AccountRow | OwnerRow | TotalsRow

# The tables that events change, by name. The first column of each table is its key.
ENTITIES: dict[str, type[Row]] = {
    "dids": DidRow,
    "aliases": AliasRow,
    "accounts": AccountRow,
    "owners": OwnerRow,
    "totals": TotalsRow,
}
