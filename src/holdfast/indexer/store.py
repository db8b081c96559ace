"""The port between the index and its database, with the guarantees that every store gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from holdfast.indexer.queries import ListQuery
    from holdfast.indexer.reader import Batch
    from holdfast.indexer.rows import AccountRow, DidRow, Event, IndexedBlock


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


class IndexStore(Protocol):
    """One index. Every method raises StoreError if the database fails. Each write is one transaction."""

    async def open(self, identity: str) -> None:
        """Connect, and empty an index built for a different identity (chain, contracts, start, schema version)."""
        ...

    async def close(self) -> None:
        """Close the database."""
        ...

    async def lead(self) -> bool:
        """Return whether this process is the leader, which alone writes until it closes the store or exits."""
        ...

    async def tip(self) -> IndexedBlock | None:
        """Return the block up to which the index is complete."""
        ...

    async def blocks(self) -> list[IndexedBlock]:
        """Return the stored blocks to which the index can go back, newest first; the first one is its tip."""
        ...

    async def apply(self, parent: IndexedBlock | None, batch: Batch, floor: int) -> None:
        """Add a range of blocks with its hashes and undo entries.

        Args:
            parent: The tip that the range follows. Raises TipMoved if the index has another tip.
            batch: The range.
            floor: The block below which hashes, and up to which undo entries, are dropped.
        """
        ...

    async def rewind(self, tip: IndexedBlock, to: IndexedBlock) -> None:
        """Rewind the index from `tip` to `to`, which is one of `blocks()`. Raises TipMoved."""
        ...

    async def reset(self) -> None:
        """Empty the index."""
        ...

    async def did(self, did_hash: bytes) -> DidRow | None:
        """Return one DID."""
        ...

    async def alias(self, alias_hash: bytes) -> AliasView | None:
        """Return one alias."""
        ...

    async def account(self, address: bytes) -> AccountRow | None:
        """Return one account."""
        ...

    async def account_addresses(self) -> list[bytes]:
        """Return the addresses of all accounts."""
        ...

    async def stats(self) -> StatsView:
        """Return the counters."""
        ...

    async def dids(self, query: ListQuery) -> list[DidRow]:
        """Return a page of DIDs in order of registration."""
        ...

    async def aliases(self, query: ListQuery) -> list[AliasView]:
        """Return a page of aliases in order of registration."""
        ...

    async def accounts(self, query: ListQuery) -> list[AccountRow]:
        """Return a page of accounts in order of creation."""
        ...

    async def events(self, query: ListQuery) -> list[Event]:
        """Return a page of events in chain order."""
        ...
