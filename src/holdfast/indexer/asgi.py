"""The indexer's ASGI 3.0 entry point: lifespan, HTTP methods and errors."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.chain.errors import RpcError
from holdfast.indexer.store import StoreError
from holdfast.wire.errors import (
    DATABASE_UNAVAILABLE,
    INDEXER_NOT_CONFIGURED,
    INTERNAL_ERROR,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    RPC_ERROR,
    ErrorRow,
    Refused,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.indexer.runtime import IndexRunner

    Scope = dict[str, Any]
    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    Headers = list[tuple[bytes, bytes]]

log = logging.getLogger("holdfast.indexer")

_JSON = (b"content-type", b"application/json")
_NO_STORE = (b"cache-control", b"no-store")  # the next block may change any response
_ALLOW = (b"allow", b"GET, HEAD")
_RETRY_AFTER = (b"retry-after", b"2")
_METHODS = frozenset({"GET", "HEAD"})


class IndexerApp:
    """The ASGI application for one index, which follows its chain from lifespan startup or from the first request."""

    def __init__(self, build: Callable[[], IndexRunner]) -> None:
        self._build = build
        self._indexer: IndexRunner | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, send)
        else:
            raise ValueError("only http is served")

    async def started(self) -> IndexRunner:
        """Return the index that runs on the current event loop, and start it if necessary."""
        loop = asyncio.get_running_loop()
        if self._indexer is None or self._loop is not loop:
            # When an event loop ends, the follower's task ends with it, so a new loop needs a new index.
            self._indexer, self._loop = self._build(), loop
        await self._indexer.start()
        return self._indexer

    async def stop(self) -> None:
        """Stop following the chain, and close the store and the connections."""
        indexer, self._indexer = self._indexer, None
        if indexer is not None:
            await indexer.stop()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            event = await receive()
            if event["type"] == "lifespan.startup":
                await self.started()
                await send({"type": "lifespan.startup.complete"})
            elif event["type"] == "lifespan.shutdown":
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _http(self, scope: Scope, send: Send) -> None:
        await _respond(scope, send, *await self._answer(scope))

    async def _answer(self, scope: Scope) -> tuple[int, bytes, Headers]:
        try:
            answers = (await self.started()).answers
            if not answers.knows(scope["path"]):
                return _error(NOT_FOUND)
            if scope["method"] not in _METHODS:
                return _error(METHOD_NOT_ALLOWED, _ALLOW)
            return 200, await answers.body(scope["path"], scope.get("query_string", b"")), []
        except Refused as refusal:
            return _error(refusal.row)
        except (RpcError, StoreError) as error:
            return _error(RPC_ERROR) if isinstance(error, RpcError) else _error(DATABASE_UNAVAILABLE, _RETRY_AFTER)
        except Exception:
            log.exception("indexer: request failed")
            return _error(INTERNAL_ERROR)


async def refuse(scope: Scope, receive: Receive, send: Send, reason: str) -> None:
    """Respond in place of the application if the settings are invalid: fail the startup, or return 503.

    `reason` contains no secret.
    """
    log.error("indexer: not started: %s", reason)
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.failed", "message": reason})
    else:
        await _respond(scope, send, *_error(INDEXER_NOT_CONFIGURED))


async def _respond(scope: Scope, send: Send, status: int, body: bytes, extra: Headers) -> None:
    headers = [_JSON, _NO_STORE, (b"content-length", b"%d" % len(body)), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _error(row: ErrorRow, *headers: tuple[bytes, bytes]) -> tuple[int, bytes, Headers]:
    return row.status, msgspec.json.encode({"error": row.error}), list(headers)
