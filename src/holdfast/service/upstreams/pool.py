"""A process's connections to upstreams.

Each upstream has its own pool, so that a slow upstream does not block others.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast import __version__
from holdfast.chain.transports import limited_response
from holdfast.service.telemetry import tracing

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

CONNECTIONS = 100  # per upstream; further requests wait for a free one
_KEEPALIVE_S = 30.0
# Sessions do not decompress responses, so they request uncompressed ones. The Accept-Encoding header of a proxied
# request takes precedence.
_HEADERS = {"User-Agent": f"Holdfast/{__version__}", "Accept-Encoding": "identity"}


class ConnectionPools:
    """Provides an HTTP session for each upstream, opened when first used."""

    def __init__(self) -> None:
        self._sessions: dict[str, aiohttp.ClientSession] = {}

    def of(self, upstream: str) -> Callable[[], aiohttp.ClientSession]:
        """Return a function that returns the named upstream's session and must be called within the event loop."""
        return partial(self._session, upstream)

    def _session(self, upstream: str) -> aiohttp.ClientSession:
        """Return the upstream's session, which keeps no cookies, so that no response affects another request."""
        session = self._sessions.get(upstream)
        if session is None:
            import aiohttp  # its import takes a quarter of a second, which must not delay startup

            session = self._sessions[upstream] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=_KEEPALIVE_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                headers=_HEADERS,
                response_class=limited_response(),
                trace_configs=_tracing(aiohttp),
            )
        return session

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(session.close() for session in self._sessions.values()))


def _tracing(library: Any) -> list[Any]:
    """Return the hooks that add `traceparent` to every request while traces are enabled (W3C Trace Context)."""
    if tracing.backend() is None:
        return []
    config = library.TraceConfig()

    async def add(_session: object, _context: object, request: Any) -> None:
        request.headers.update(tracing.outgoing())

    config.on_request_start.append(add)
    return [config]
