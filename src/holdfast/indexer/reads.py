"""Does the look-ups and list queries of the index for the store: chooses statements and converts rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.indexer import queries
from holdfast.indexer.rows import AccountRow, DidRow, Event
from holdfast.indexer.statements import SELECT
from holdfast.indexer.store import AliasView, StatsView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.indexer.queries import ListQuery

T = TypeVar("T")


class Reads(ABC):
    """The reading half of IndexStore. The store fetches the rows."""

    async def did(self, did_hash: bytes) -> DidRow | None:
        """See IndexStore."""
        return await self._first(DidRow._make, SELECT["dids"], did_hash)

    async def alias(self, alias_hash: bytes) -> AliasView | None:
        """See IndexStore."""
        return await self._first(AliasView._make, queries.ALIAS_BY_HASH, alias_hash)

    async def account(self, address: bytes) -> AccountRow | None:
        """See IndexStore."""
        return await self._first(AccountRow._make, SELECT["accounts"], address)

    async def stats(self) -> StatsView:
        """See IndexStore."""
        found = await self._first(StatsView._make, queries.STATS)
        assert found is not None
        return found

    async def dids(self, query: ListQuery) -> list[DidRow]:
        """See IndexStore."""
        return await self._list(DidRow._make, query)

    async def aliases(self, query: ListQuery) -> list[AliasView]:
        """See IndexStore."""
        return await self._list(AliasView._make, query)

    async def accounts(self, query: ListQuery) -> list[AccountRow]:
        """See IndexStore."""
        return await self._list(AccountRow._make, query)

    async def events(self, query: ListQuery) -> list[Event]:
        """See IndexStore."""
        return await self._list(Event._make, query)

    @abstractmethod
    async def _first(self, make: Callable[[Iterable[Any]], T], statement: str, *values: bytes) -> T | None:
        """Return the first row of a statement's result. Raises StoreError."""

    @abstractmethod
    async def _list(self, make: Callable[[Iterable[Any]], T], query: ListQuery) -> list[T]:
        """Return a page of a list, within the time limit for list queries. Raises StoreError."""
