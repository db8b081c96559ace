"""The indexer behind GET /api/indexer/{path}: an application in this process, or a server at a URL."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

from holdfast.rules.limits import PROXY_TIMEOUT_S
from holdfast.service.telemetry import tracing
from holdfast.service.telemetry.calls import calling
from holdfast.service.upstreams.proxy import RESPONSE_HEADERS, AnswerBody, UpstreamAnswer, UpstreamError, fetch
from holdfast.wire.connection_errors import connection_words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import aiohttp

    AsgiApp = Callable[
        [dict[str, Any], Callable[[], Awaitable[dict[str, Any]]], Callable[[dict[str, Any]], Awaitable[None]]],
        Awaitable[None],
    ]


_log = logging.getLogger("holdfast.proxies")


class Indexer(Protocol):
    """Handles GET requests."""

    async def get(self, path: str, query: str, headers: dict[str, str]) -> UpstreamAnswer:
        """Return the response to a percent-encoded path and query. Raises UpstreamError."""
        ...

    async def start(self) -> None:
        """Start."""
        ...

    async def stop(self) -> None:
        """Stop."""
        ...


class IndexerAddress:
    """An indexer at a URL."""

    def __init__(self, url: str, session: Callable[[], aiohttp.ClientSession]) -> None:
        self._url = url
        self._session = session

    async def get(self, path: str, query: str, headers: dict[str, str]) -> UpstreamAnswer:
        """See Indexer."""
        target = self._url + path + ("?" + query if query else "")
        with calling("indexer"):
            return await fetch(self._session, "GET", target, headers)

    async def start(self) -> None:
        """Do nothing, because the indexer is another process."""

    async def stop(self) -> None:
        """Do nothing, because the indexer is another process."""


class IndexerBinding:
    """An ASGI application in this process, called without a socket. Its lifespan follows the service's."""

    def __init__(self, application: AsgiApp) -> None:
        self._application = application
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._started = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    async def get(self, path: str, query: str, headers: dict[str, str]) -> UpstreamAnswer:
        """See Indexer."""
        scope: dict[str, Any] = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
            "method": "GET", "scheme": "http", "path": unquote(path), "raw_path": path.encode(),
            "query_string": query.encode(), "root_path": "", "client": None, "server": None,
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()],
        }  # fmt: skip
        with calling("indexer"):
            scope["headers"] += [(name.encode(), value.encode()) for name, value in tracing.outgoing().items()]
            return await self._answered(scope)

    async def _answered(self, scope: dict[str, Any]) -> UpstreamAnswer:
        collected = _Collected()
        try:
            async with asyncio.timeout(PROXY_TIMEOUT_S):
                await self._application(scope, _no_body, collected.send)
        except TimeoutError as error:
            raise UpstreamError(connection_words(error), "timeout") from error
        except UpstreamError:
            raise
        except Exception as error:  # an application may raise anything
            raise UpstreamError("the application failed") from error
        return collected.answer()

    async def start(self) -> None:
        """Start the application's lifespan, which applications need not support (ASGI, lifespan protocol)."""
        self._life = asyncio.ensure_future(self._live())
        await self._inbox.put({"type": "lifespan.startup"})
        waiting = asyncio.ensure_future(self._started.wait())
        await asyncio.wait({self._life, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    async def stop(self) -> None:
        """End the lifespan."""
        if self._life is not None and not self._life.done():
            await self._inbox.put({"type": "lifespan.shutdown"})
            await asyncio.wait({self._life}, timeout=PROXY_TIMEOUT_S)
            self._life.cancel()

    async def _live(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": {}}
        try:
            await self._application(scope, self._inbox.get, self._heard)
        except Exception:  # noqa: BLE001 - an application without a lifespan may raise anything
            return

    async def _heard(self, message: dict[str, Any]) -> None:
        if message["type"] == "lifespan.startup.failed":
            _log.warning("the indexer did not start", extra={"why": _kind(str(message.get("message", "")))})
        if message["type"].startswith("lifespan.startup."):
            self._started.set()


class _Collected:
    """Collects the response that an ASGI application sends."""

    def __init__(self) -> None:
        self._status = 0
        self._headers: list[tuple[str, str]] = []
        self._body = AnswerBody()

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in message["headers"]]
            self._headers = [pair for pair in pairs if pair[0] in RESPONSE_HEADERS]
        elif message["type"] == "http.response.body":
            await self._body.add(message.get("body", b""))

    def answer(self) -> UpstreamAnswer:
        if not self._status:
            raise UpstreamError("no answer")
        return UpstreamAnswer(self._status, self._headers, self._body.whole())


def _kind(failure: str) -> str:
    """Return the kind of error with which a trace ends. Its message may quote an endpoint's key."""
    return failure.strip().rpartition("\n")[2].partition(":")[0]


async def _no_body() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}
