"""Produces the indexer's responses: converts a path and a query string to the body of a 200 response."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.indexer import parameters, shapes
from holdfast.indexer.store import StoreError
from holdfast.wire.errors import NOT_FOUND, Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.indexer.progress import FollowProgress
    from holdfast.indexer.queries import ListQuery
    from holdfast.indexer.sqlite_store import SqliteIndexStore
    from holdfast.indexer.transfers import TransferReader

_TRANSFERS = re.compile(r"/api/accounts/([^/]+)/transfers")
UNKNOWN = b'{"found":false}'

DATABASE_WITHIN_S = 2.0

_encode = msgspec.json.Encoder().encode


class Answers:
    """The paths of one index. `healthy` says whether it agrees with its chain, `progress` how far it is."""

    def __init__(
        self,
        store: SqliteIndexStore,
        chain_id: int,
        healthy: Callable[[], bool],
        progress: Callable[[], FollowProgress],
        transfers: TransferReader,
    ) -> None:
        self._store = store
        self._healthy = healthy
        self._progress = progress
        self._transfers = transfers
        self._health = {ok: _encode(shapes.IndexerHealth(ok=ok, chain=chain_id)) for ok in (True, False)}
        self._whole: dict[str, Callable[[bytes], Awaitable[bytes]]] = {
            "/health": self._answer_health,
            "/api/progress": self._answer_progress,
            "/api/stats": self._answer_stats,
            "/api/dids": self._answer_dids,
            "/api/aliases": self._answer_aliases,
            "/api/accounts": self._answer_accounts,
            "/api/events": self._answer_events,
        }
        self._one: dict[str, Callable[[str], Awaitable[bytes]]] = {
            "/api/dids": self._answer_did,
            "/api/aliases": self._answer_alias,
            "/api/accounts": self._answer_account,
        }

    def knows(self, path: str) -> bool:
        """Return whether the indexer serves this path, whether or not the requested row exists."""
        prefix, _, name = path.rpartition("/")
        return path in self._whole or (prefix in self._one and bool(name)) or _TRANSFERS.fullmatch(path) is not None

    async def body(self, path: str, query_string: bytes) -> bytes:
        """Return the JSON body of the response for a path.

        Raises Refused for bad input and unknown paths, StoreError.
        """
        whole = self._whole.get(path)
        if whole is not None:
            return await whole(query_string)
        if not self.knows(path):
            raise Refused(NOT_FOUND)
        if account := _TRANSFERS.fullmatch(path):
            return await self._answer_transfers(account[1], query_string)
        parameters.parameters(query_string, [])
        prefix, _, name = path.rpartition("/")
        return await self._one[prefix](name)

    async def _answer_health(self, query_string: bytes) -> bytes:
        parameters.parameters(query_string, [])
        return self._health[self._healthy() and await self._database_answers()]

    async def _database_answers(self) -> bool:
        try:
            async with asyncio.timeout(DATABASE_WITHIN_S):
                await self._store.stats()
        except (StoreError, TimeoutError):
            return False
        return True

    async def _answer_progress(self, query_string: bytes) -> bytes:
        parameters.parameters(query_string, [])
        return _encode(shapes.progress_shape(self._progress()))

    async def _answer_stats(self, query_string: bytes) -> bytes:
        parameters.parameters(query_string, [])
        return _encode(shapes.stats_shape(await self._store.stats()))

    async def _answer_did(self, name: str) -> bytes:
        row = await self._store.did(parameters.did_key(name))
        return UNKNOWN if row is None else _encode(shapes.did_shape(row))

    async def _answer_alias(self, name: str) -> bytes:
        row = await self._store.alias(parameters.alias_key(name))
        return UNKNOWN if row is None else _encode(shapes.alias_shape(row))

    async def _answer_account(self, name: str) -> bytes:
        row = await self._store.account(parameters.address(name))
        return UNKNOWN if row is None else _encode(shapes.account_shape(row))

    async def _answer_transfers(self, name: str, query_string: bytes) -> bytes:
        account = parameters.address(name)
        requested, tip = parameters.below(query_string), self._progress().tip
        top = min(block for block in (requested, tip) if block is not None) if tip is not None else -1
        page = await self._transfers.page(account, top)
        shown = [shapes.transfer_shape(one, account, self._transfers.token) for one in page.transfers]
        following = None if page.following is None else str(page.following)
        return _encode({"transfers": shown, "next_cursor": following})

    async def _answer_dids(self, query_string: bytes) -> bytes:
        query = parameters.list_query("dids", query_string)
        return _page(query, await self._store.dids(_one_more(query)), shapes.did_shape)

    async def _answer_aliases(self, query_string: bytes) -> bytes:
        query = parameters.list_query("aliases", query_string)
        return _page(query, await self._store.aliases(_one_more(query)), shapes.alias_shape)

    async def _answer_accounts(self, query_string: bytes) -> bytes:
        query = parameters.list_query("accounts", query_string)
        return _page(query, await self._store.accounts(_one_more(query)), shapes.account_shape)

    async def _answer_events(self, query_string: bytes) -> bytes:
        query = parameters.list_query("events", query_string)
        return _page(query, await self._store.events(_one_more(query)), shapes.event_shape)


def _one_more(query: ListQuery) -> ListQuery:
    """Return the query for one more row than a page has: the extra row shows whether there is a next page."""
    return query._replace(limit=query.limit + 1)


def _page(query: ListQuery, rows: list[Any], shape: Callable[[Any], shapes.Shape]) -> bytes:
    page = rows[: query.limit]
    more = len(rows) > len(page)
    following = parameters.cursor(query.name, page[-1].block_number, page[-1].log_index) if more else None
    return _encode({query.name: [shape(row) for row in page], "next_cursor": following})
