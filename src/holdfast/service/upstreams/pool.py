"""The one pool of upstream connections of a process, opened when something is first asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import __version__

if TYPE_CHECKING:
    import aiohttp

_CONNECTIONS = 200
_KEEPALIVE_S = 30.0
# Nothing is unpacked here, so nothing packed is asked for; a proxied request's own header goes first.
_HEADERS = {"User-Agent": f"Holdfast/{__version__}", "Accept-Encoding": "identity"}


class ConnectionPool:
    """Lends the pooled session."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    def session(self) -> aiohttp.ClientSession:
        """The session; call within the event loop.

        It keeps no cookies, so nothing crosses from one answer into another request, and unpacks nothing, so bodies
        pass unchanged.
        """
        if self._session is None:
            import aiohttp  # a quarter of a second that a start must not wait for

            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=_CONNECTIONS, keepalive_timeout=_KEEPALIVE_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                headers=_HEADERS,
            )
        return self._session

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
