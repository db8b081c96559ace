"""A client that calls the indexer's ASGI application without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.fake_chain import CHAIN_ID, FakeChain
from tests.support.indexes import OPTIONS, follower

from holdfast.indexer.asgi import IndexerApp
from holdfast.indexer.runtime import IndexRunner
from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.indexer.transfers import TransferReader

TOKEN = bytes.fromhex("55" * 20)


class Client:
    def __init__(self, app: IndexerApp) -> None:
        self.app = app

    async def ask(self, path: str, query: str = "", method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": []}
        await self.app(scope, no_body, send)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])

    async def get(self, path: str, query: str = "") -> Any:
        status, headers, body = await self.ask(path, query)
        assert status == 200
        assert headers["content-type"] == "application/json"
        assert headers["content-length"] == str(len(body))
        return json.loads(body)


async def no_body() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def build_on(path: Path, chain: FakeChain, store: SqliteIndexStore | None = None) -> Callable[[], IndexRunner]:
    def build() -> IndexRunner:
        made = store or SqliteIndexStore(path / "index.db")
        return IndexRunner(
            made, follower(chain, made, OPTIONS), TransferReader(chain, TOKEN, 0), identity="test", chain_id=CHAIN_ID
        )

    return build


async def until_healthy(client: Client) -> None:
    """Poll until the indexer is healthy; it starts to follow the chain only when it receives its first request."""
    async with asyncio.timeout(60):
        while not (await client.get("/health"))["ok"]:
            await asyncio.sleep(0.01)
