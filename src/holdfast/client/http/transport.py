"""Sends HTTP requests. `calls` decides what is sent and how responses are parsed."""

from __future__ import annotations

import asyncio
import os
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from holdfast import __version__
from holdfast.client.http.calls import MAX_ANSWER_BYTES, Call, Reply, Retries, result
from holdfast.wire.client_errors import ClientStateError, NetworkError

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")

DEFAULT_TIMEOUT_S = 10.0
_HEADERS = {"User-Agent": f"holdfast-python/{__version__}", "Accept": "application/json, */*;q=0.5"}


class HttpTransport:
    """Sends a client's calls to its service; several calls may run concurrently."""

    def __init__(
        self,
        base_url: str,
        *,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT_S,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.base_url = checked_base_url(base_url)
        self._retries = retries or Retries()
        self._connect = partial(
            httpx.AsyncClient, timeout=timeout, transport=_checked(transport), headers={**_HEADERS, **(headers or {})}
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
        """Send JSON by POST to the service's bundler or to another URL, such as a chain's JSON-RPC endpoint.

        The client's own headers and cookies are sent only to the service.
        """
        self._check_open()
        with _network_errors():
            response = await self._http.send(_post(self._http, url, body, self.base_url), stream=True)
            content = bytearray()
            async for chunk in response.aiter_bytes():
                _add(content, chunk)
            await response.aclose()
        return Reply(response.status_code, response.headers, bytes(content))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _once(self, call: Call[Any], headers: Mapping[str, str]) -> Reply:
        self._check_open()
        with _network_errors():
            async with self._http.stream(**_request(call, self.base_url, headers)) as response:
                content = bytearray()
                async for chunk in response.aiter_bytes():
                    _add(content, chunk)
                return Reply(response.status_code, response.headers, bytes(content))

    def _check_open(self) -> None:
        if self._http.is_closed:
            raise ClientStateError("the client is closed")
        if self._process != os.getpid():  # after a fork the connections belong to the parent
            self._http, self._process = self._connect(), os.getpid()


def _checked(transport: httpx.AsyncBaseTransport | None) -> httpx.AsyncBaseTransport | None:
    if transport is not None and not isinstance(transport, httpx.AsyncBaseTransport):
        raise TypeError("transport must be an httpx.AsyncBaseTransport, also for the blocking client")
    return transport


def checked_base_url(base_url: str) -> str:
    """Return the service's address without a trailing slash. Raises ValueError unless it is http or https."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ValueError("base_url is not a URL") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("base_url must start with http:// or https://")
    return base_url.rstrip("/")


class _network_errors:  # noqa: N801 - used as a statement, as contextlib.suppress is
    """Converts httpx's exceptions to NetworkError, without the URL, which may contain an API key."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)):
            raise NetworkError(f"no answer ({type(error).__name__})") from error


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


def _post(http: httpx.AsyncClient, url: str, body: bytes, base_url: str) -> httpx.Request:
    json = {"Content-Type": "application/json"}
    request = http.build_request("POST", url, content=body, headers=json)
    if _origin(request.url) == _origin(httpx.URL(base_url)):
        return request
    return httpx.Request("POST", url, content=body, headers={**_HEADERS, **json}, extensions=request.extensions)


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _base(call: Call[Any], base_url: str) -> str:
    return checked_base_url(call.base_url) if call.base_url else base_url


def _add(content: bytearray, chunk: bytes) -> None:
    content += chunk
    if len(content) > MAX_ANSWER_BYTES:
        raise NetworkError(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
