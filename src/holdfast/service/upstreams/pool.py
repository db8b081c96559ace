"""The upstream connections of a process: a pool for each upstream, so that a slow one holds up no other."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from holdfast import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

CONNECTIONS = 100  # of each upstream; further requests to it wait for one
_KEEPALIVE_S = 30.0
# Nothing is unpacked here, so nothing packed is asked for; a proxied request's own header goes first.
_HEADERS = {"User-Agent": f"Holdfast/{__version__}", "Accept-Encoding": "identity"}


class ConnectionPools:
    """Lends a session for each upstream, opened when it is first asked."""

    def __init__(self) -> None:
        self._sessions: dict[str, aiohttp.ClientSession] = {}

    def of(self, upstream: str) -> Callable[[], aiohttp.ClientSession]:
        """What returns the session of the upstream of this name; to be called within the event loop."""
        return partial(self._session, upstream)

    def _session(self, upstream: str) -> aiohttp.ClientSession:
        """It keeps no cookies, so nothing crosses from one answer into another request; bodies pass unpacked."""
        session = self._sessions.get(upstream)
        if session is None:
            import aiohttp  # a quarter of a second that a start must not wait for

            session = self._sessions[upstream] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=_KEEPALIVE_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                headers=_HEADERS,
            )
        return session

    async def close(self) -> None:
        """Close the connections of all."""
        await asyncio.gather(*(session.close() for session in self._sessions.values()))
