"""HTTP transports for the JSON-RPC client: the protocol, and adapters for aiohttp (service) and httpx2 (client)."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.chain.errors import AnswerTooLarge, TransportError
from holdfast.wire.connection_errors import connection_words
from holdfast.wire.retries import SUCCESS

if TYPE_CHECKING:
    import aiohttp
    import httpx2

MAX_ANSWER_BYTES = 8 * 1024 * 1024
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}
_MAX_INTERIM = 8


class Transport(Protocol):
    """Sends POST requests. Raises TransportError unless a 2xx response arrives."""

    async def post(self, url: str, body: bytes) -> bytes:
        """Send `body` as `application/json` and return the response body."""
        ...


def limited_response() -> type[aiohttp.ClientResponse]:
    """Return a class of responses for `aiohttp.ClientSession` that have few interim ones (1xx) before them.

    aiohttp reads those without yielding to other tasks, so an endless series would hold up the whole process.
    """
    import aiohttp  # imported here, as the client does not need aiohttp

    class Response(aiohttp.ClientResponse):
        async def start(self, connection: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
            protocol: Any = connection.protocol
            heard = count()
            read = protocol.read

            async def read_few() -> Any:
                if next(heard) > _MAX_INTERIM:
                    raise aiohttp.http.HttpProcessingError(message="too many interim responses")
                return await read()

            protocol.read = read_few
            try:
                return await super().start(connection)
            finally:
                del protocol.read

    return Response


class AiohttpTransport:
    """Sends POST requests through a pooled `aiohttp.ClientSession`, which the caller closes.

    Accepts at most `most_bytes` bytes.
    """

    def __init__(self, session: aiohttp.ClientSession, most_bytes: int = MAX_ANSWER_BYTES) -> None:
        self._session = session
        self._most_bytes = most_bytes

    async def post(self, url: str, body: bytes) -> bytes:
        """See Transport."""
        import aiohttp  # imported here, as the client does not need aiohttp

        try:
            async with self._session.post(url, data=body, headers=_HEADERS, allow_redirects=False) as answer:
                _check_status(answer.status)
                return await _read(answer.content, self._most_bytes)
        except (aiohttp.ClientError, OSError) as error:
            raise TransportError(connection_words(error)) from error


class Httpx2Transport:
    """Sends POST requests through an `httpx2.AsyncClient`, which the caller closes."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def post(self, url: str, body: bytes) -> bytes:
        """See Transport."""
        import httpx2  # imported here, as the service does not need httpx2

        try:
            async with self._client.stream("POST", url, content=body, headers=_HEADERS) as answer:
                _check_status(answer.status_code)
                return await _collect(answer)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, ExceptionGroup) as error:  # a redirect to no address
            raise TransportError(connection_words(error)) from error


def _check_status(status: int) -> None:
    if status not in SUCCESS:
        raise TransportError(f"HTTP status {status}", status)


async def _read(stream: aiohttp.StreamReader, most_bytes: int) -> bytes:
    try:
        await stream.readexactly(most_bytes + 1)
    except asyncio.IncompleteReadError as whole:
        return whole.partial
    raise AnswerTooLarge(most_bytes)


async def _collect(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in answer.aiter_bytes():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise AnswerTooLarge(MAX_ANSWER_BYTES)
    return bytes(body)
