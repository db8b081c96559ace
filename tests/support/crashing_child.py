"""An indexer process that kills itself with SIGKILL just before or after the n-th commit.

Arguments: database, endpoint, registry, factory, n, and "before" or "after" (the commit).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp

from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import AiohttpTransport
from holdfast.indexer.events import Decoder
from holdfast.indexer.follower import Follower, FollowOptions, Step
from holdfast.indexer.reader import RangeReader
from holdfast.indexer.sqlite_store import SqliteIndexStore

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


class DyingStore(SqliteIndexStore):
    commits_left = int(sys.argv[5]) + 1  # the first commit is that of opening the store
    after = sys.argv[6] == "after"

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with super()._transaction() as db:
            yield db
            self.commits_left -= 1
            if self.commits_left == 0 and not self.after:
                os.kill(os.getpid(), signal.SIGKILL)
        if self.commits_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


async def main() -> None:
    database, url, registry, factory = sys.argv[1:5]
    store = DyingStore(Path(database))
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
