"""One running index with its store, its follower and its connection to the chain."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING

import aiohttp

from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import AiohttpTransport, limited_response
from holdfast.indexer.answers import Answers
from holdfast.indexer.events import Decoder
from holdfast.indexer.follower import Follower
from holdfast.indexer.reader import RangeReader
from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.indexer.store import StoreError
from holdfast.indexer.tables import SCHEMA_VERSION
from holdfast.indexer.transfers import TransferReader

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.indexer.settings import IndexerSettings

log = logging.getLogger("holdfast.indexer")

OPEN_AGAIN_S = 2.0
# The maximum size of one block's logs as JSON. Even the logs of a block of 400 million gas stay below it: a byte of an
# event becomes two bytes of JSON, and costs at least 8 gas in the log and 4 gas in the transaction.
MAX_BLOCK_BYTES = 96 * 1024 * 1024
MAX_RANGE_BYTES = 256 * 1024  # 400 transfers; a page has 20
_BLOCK_TIMEOUT_S = 120.0


class IndexRunner:
    """Opens the store, then follows the chain in the background until stopped."""

    def __init__(
        self,
        store: SqliteIndexStore,
        follower: Follower,
        transfers: TransferReader,
        *,
        identity: str,
        chain_id: int,
        on_stop: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.store = store
        self.follower = follower
        self.answers = Answers(store, chain_id, follower.healthy, follower.progress, transfers)
        self._identity = identity
        self._on_stop = on_stop
        self._tried = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start following. Returns when the store is open or the first attempt to open it has failed."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="holdfast-indexer")
        await self._tried.wait()

    async def stop(self) -> None:
        """Stop following at once and close everything. A range is stored completely or not at all."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.store.close()
        if self._on_stop is not None:
            await self._on_stop()

    async def _work(self) -> None:
        while not await self._opened():  # noqa: ASYNC110 - it waits for a database, not for something in this process
            await asyncio.sleep(OPEN_AGAIN_S)
        await self.follower.run()

    async def _opened(self) -> bool:
        try:
            await self.store.open(self._identity)
        except StoreError as error:
            log.warning("indexer: the store cannot be opened (%s)", error)
            return False
        else:
            return True
        finally:
            self._tried.set()


def build(settings: IndexerSettings) -> IndexRunner:
    """Return an index built from the settings. Call this on the event loop that will run the index."""
    session = aiohttp.ClientSession(response_class=limited_response())
    decoder = Decoder(settings.registry, settings.factory)
    rpc = RpcClient(settings.rpc_url, AiohttpTransport(session))
    reader = RangeReader(rpc, decoder, roomy_client(settings.rpc_url, session))
    transfers = transfer_reader(settings, rpc, session)
    store = SqliteIndexStore(settings.sqlite_path)
    follower = Follower(reader, store, settings.follow, jitter=lambda: random.uniform(0.5, 1.5))  # noqa: S311 - no secret
    chain_id, stop = settings.follow.chain_id, session.close
    return IndexRunner(store, follower, transfers, identity=identity(settings), chain_id=chain_id, on_stop=stop)


def transfer_reader(settings: IndexerSettings, rpc: RpcClient, session: aiohttp.ClientSession) -> TransferReader:
    """Return the reader of transfers, which accepts the logs of a range only in small responses."""
    brief = RpcClient(settings.rpc_url, AiohttpTransport(session, most_bytes=MAX_RANGE_BYTES), batches=False)
    return TransferReader(rpc, settings.token, settings.follow.start_block, brief)


def roomy_client(url: str, session: aiohttp.ClientSession) -> RpcClient:
    """Return a client that accepts responses with as many logs as the gas limit of one block allows."""
    transport = AiohttpTransport(session, most_bytes=MAX_BLOCK_BYTES)
    return RpcClient(url, transport, batches=False, timeout_s=_BLOCK_TIMEOUT_S)


def identity(settings: IndexerSettings) -> str:
    """Return what identifies an index. A stored index with a different identity is rebuilt."""
    parts = (settings.follow.chain_id, settings.registry.hex(), settings.factory.hex(), settings.follow.start_block)
    return f"v{SCHEMA_VERSION}:" + ":".join(str(part) for part in parts)
