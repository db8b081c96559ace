"""An indexer process that kills itself with SIGKILL just before or after the n-th commit.

Arguments: database, endpoint, registry, factory, n, and "before" or "after" (the commit).
"""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp

from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import AiohttpTransport
from holdfast.indexer.events import Decoder
from holdfast.indexer.follower import Follower, FollowOptions, Step
from holdfast.indexer.reader import RangeReader
from holdfast.indexer.sqlite_store import SqliteIndexStore


class CrashingStore(SqliteIndexStore):
    """A store that calls `crash` in the n-th commit, before or after the database has committed."""

    def __init__(self, path: Path, crash_in: int, *, after: bool, crash: Callable[[], None]) -> None:
        super().__init__(path)
        self.crash_in, self.after, self.crash = crash_in, after, crash

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with super()._transaction() as db:
            yield db
            self.crash_in -= 1
            if self.crash_in == 0 and not self.after:
                self.crash()
        if self.crash_in == 0:
            self.crash()


async def main() -> None:
    database, url, registry, factory, number, moment = sys.argv[1:]
    crash_in = int(number) + 1  # the first commit is that of opening the store
    kill = functools.partial(os.kill, os.getpid(), signal.SIGKILL)
    store = CrashingStore(Path(database), crash_in, after=moment == "after", crash=kill)
    await store.open("anvil")
    async with aiohttp.ClientSession() as session:
        decoder = Decoder(bytes.fromhex(registry), bytes.fromhex(factory))
        reader = RangeReader(RpcClient(url, AiohttpTransport(session)), decoder)
        options = FollowOptions(chain_id=84532, behind_patience_s=0.0, near_blocks=8, journal_blocks=40)
        follower = Follower(reader, store, options)
        while await follower.step() is not Step.CURRENT:
            pass
    await store.close()


if __name__ == "__main__":
    asyncio.run(main())
