"""Sends HTTP requests. `calls` decides what is sent and how responses are parsed."""

from __future__ import annotations

import asyncio
import os
import ssl
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import httpx2

from holdfast import __version__
from holdfast.client.http.calls import MAX_ANSWER_BYTES, AnswerLate, Call, Reply, Retries, result
from holdfast.wire.client_errors import ClientStateError, NetworkError
from holdfast.wire.connection_errors import causes, connection_words
from holdfast.wire.waiting import slow_is_told

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")

# A whole request takes at most this long, or as long as the time limit of its parts: a server that sends a byte now and
# then never exceeds the latter. It is longer than a service waits for a bundler or an indexer.
WHOLE_REQUEST_S = 30.0
DEFAULT_TIMEOUT = httpx2.Timeout(WHOLE_REQUEST_S, connect=10.0)
_LONGEST_REFUSAL = 64 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {"User-Agent": f"holdfast-python/{__version__}", "Accept": "application/json, */*;q=0.5"}


class HttpTransport:
    """Sends a client's calls to its service; several calls may run concurrently."""

    def __init__(
        self,
        base_url: str,
        *,
        timeout: float | httpx2.Timeout = DEFAULT_TIMEOUT,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.base_url = checked_base_url(base_url)
        self.host = httpx2.URL(self.base_url).netloc.decode("ascii")
        self._retries = retries or Retries()
        self.whole_s = max(WHOLE_REQUEST_S, timeout) if isinstance(timeout, (int, float)) else _longest(timeout)
        self._connect = partial(
            _client, timeout=timeout, transport=_checked(transport), headers={**_HEADERS, **(headers or {})}
        )
        self._http, self._process = self._connect(), os.getpid()

    async def send(self, call: Call[T]) -> T:
        """Send the call and return its result. Raises RequestRefused, NetworkError; ClientStateError after `close`."""
        attempt = 1
        headers = {"Idempotency-Key": str(uuid.uuid4())} if call.named else {}
        while True:
            try:
                return result(call, await self._once(call, headers))
            except NetworkError as error:
                wait = self._retries.delay_s(call, error, attempt)
                if wait is None:
                    raise
            await asyncio.sleep(wait)
            attempt += 1

    async def post(self, url: str, body: bytes) -> Reply:
        """Send JSON by POST to the service's bundler or to another URL, such as a chain's JSON-RPC endpoint."""
        self._check_open()
        with _network_errors(url), slow_is_told(url):
            async with asyncio.timeout(self.whole_s):
                request = self._built("POST", url, headers={"Content-Type": "application/json"}, content=body)
                response = await _sent(self._http, request)
                try:
                    return await _reply(response, MAX_ANSWER_BYTES)
                finally:
                    await response.aclose()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _once(self, call: Call[Any], headers: Mapping[str, str]) -> Reply:
        self._check_open()
        request = _request(call, self.base_url, headers)
        with _network_errors(request["url"]), slow_is_told(request["url"]):
            async with asyncio.timeout(self.whole_s):
                for left in range(call.redirects, -1, -1):
                    response = await _sent(self._http, self._built(**request))
                    try:
                        if left and (url := _redirected(response)) is not None:
                            request = {"method": "GET", "url": url, "headers": call.headers}
                            continue
                        return await _reply(response, call.longest or MAX_ANSWER_BYTES)
                    finally:
                        await response.aclose()
        raise AssertionError("the last request returns")

    def _built(self, method: str, url: str, headers: Mapping[str, str] | None = None, **more: Any) -> httpx2.Request:
        """Return a request. The client's own headers and cookies are sent only to the service."""
        request = self._http.build_request(method, url, headers=headers, **more)
        if _origin(request.url) == _origin(httpx2.URL(self.base_url)):
            return request
        headers = {**_HEADERS, **(headers or {})}
        return httpx2.Request(method, url, headers=headers, extensions=request.extensions, **more)

    def _check_open(self) -> None:
        if self._http.is_closed:
            raise ClientStateError("the client is closed")
        if self._process != os.getpid():  # after a fork the connections belong to the parent
            self._http, self._process = self._connect(), os.getpid()


def _client(**options: Any) -> httpx2.AsyncClient:
    """Make the HTTP client. Raises OSError, which names SSL_CERT_FILE, if that names no certificates."""
    try:
        return httpx2.AsyncClient(**options)
    except OSError as error:  # ssl.SSLError is one
        if not (file := os.environ.get("SSL_CERT_FILE")):
            raise
        raise OSError(error.errno or 0, "SSL_CERT_FILE cannot be read as certificates in PEM", file) from error


def _checked(transport: httpx2.AsyncBaseTransport | None) -> httpx2.AsyncBaseTransport | None:
    if transport is not None and not isinstance(transport, httpx2.AsyncBaseTransport):
        raise TypeError("transport must be an httpx2.AsyncBaseTransport, also for the blocking client")
    return transport


def checked_base_url(base_url: str) -> str:
    """Return the service's address without a trailing slash. Raises ValueError unless it is http or https."""
    try:
        url, _ = httpx2.URL(base_url), urlsplit(base_url).port
    except (httpx2.InvalidURL, ValueError):
        raise ValueError("base_url is not an address such as https://id.example") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("base_url must start with http:// or https://")
    return base_url.rstrip("/")


class _network_errors:  # noqa: N801 - used as a statement, as contextlib.suppress is
    """Converts httpx2's exceptions to NetworkError.

    Of the URL, the message contains host and port alone: the rest may contain an API key.
    """

    def __init__(self, url: str) -> None:
        self._at = urlsplit(url).netloc.rpartition("@")[2]

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TimeoutError):
            raise AnswerLate(f"{self._at}: the whole answer did not arrive in time") from error
        if isinstance(error, httpx2.ReadTimeout):
            raise AnswerLate(f"{self._at}: {_message(error)}") from error
        if isinstance(error, httpx2.TransportError):
            raise NetworkError(f"{self._at}: {_message(error)}") from error
        if isinstance(error, (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError)):
            raise NetworkError(_message(error)) from error


def _message(error: Exception) -> str:
    if any(isinstance(one, ssl.SSLCertVerificationError) for one in causes(error)):
        return "the certificate is not trusted; if its CA is your own, set SSL_CERT_FILE to a file that contains it"
    return connection_words(error)


def _request(call: Call[Any], base_url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    request: dict[str, Any] = {"method": call.method, "url": _base(call, base_url) + call.path}
    if call.query:
        request["params"] = dict(call.query)
    if call.body is not None:
        request["json"] = call.body
    if call.content is not None:
        request["content"] = call.content
    if call.headers or headers:
        request["headers"] = {**(call.headers or {}), **headers}
    return request


async def _sent(http: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
    """Send a request. Raises NetworkError also for a port above 65535, and for a redirect to no address.

    httpx2 reads such a redirect but does not follow it.
    """
    try:
        return await http.send(request, stream=True)
    except (ValueError, ExceptionGroup) as error:
        raise NetworkError(connection_words(error)) from error


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _base(call: Call[Any], base_url: str) -> str:
    return checked_base_url(call.base_url) if call.base_url else base_url


async def _reply(response: httpx2.Response, longest: int) -> Reply:
    """Return the whole response. Raises NetworkError if it is larger than `longest` or, a refusal, than 64 KiB."""
    longest = longest if response.is_success else min(MAX_ANSWER_BYTES, max(longest, _LONGEST_REFUSAL))
    return Reply(response.status_code, response.headers, await whole_body(response, longest))


async def whole_body(response: httpx2.Response, longest: int) -> bytes:
    """Return the body, decompressed. Raises NetworkError if it is larger than `longest`."""
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > longest:
            raise NetworkError(f"the answer is larger than {longest} bytes")
    return bytes(content)


def _redirected(response: httpx2.Response) -> str | None:
    """Return the https address to which a response redirects, or None."""
    location = response.headers.get("location")
    if response.status_code not in _REDIRECTS or location is None:
        return None
    try:
        url = response.url.join(location)
    except (httpx2.InvalidURL, ValueError):
        return None
    return str(url) if url.scheme == "https" else None


def _longest(timeout: httpx2.Timeout) -> float | None:
    """Return the limit for a whole request: none if any of its parts has none."""
    parts = (timeout.connect, timeout.read, timeout.write, timeout.pool)
    return None if None in parts else max(WHOLE_REQUEST_S, *(part for part in parts if part is not None))
