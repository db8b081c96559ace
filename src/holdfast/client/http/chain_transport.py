"""How a flow meets the two faces: it awaits everything, whether the client and the vault are asyncio's or not."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.chain.errors import TransportError
from holdfast.client.http.calls import refusal
from holdfast.wire.client_errors import NetworkError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from holdfast.client.http.calls import Reply

T = TypeVar("T")

_OK = range(200, 300)


class Face:
    """Either face of a client or a vault with methods that are awaited."""

    def __init__(self, face: Any) -> None:
        self._face = face

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        return _awaitable(getattr(self._face, name))


class CarrierTransport:
    """JSON-RPC through the client's own connections: holdfast.chain's Transport over either carrier."""

    def __init__(self, post: Callable[[str, bytes], Any], base_url: str) -> None:
        self._post, self._base_url = _awaitable(post), base_url

    async def post(self, url: str, body: bytes) -> bytes:
        """See holdfast.chain.transports.Transport. What the service itself refuses stands as the error's cause."""
        try:
            reply: Reply = await self._post(url, body)
        except NetworkError as error:
            raise TransportError(str(error)) from error
        if reply.status not in _OK:
            own = url.startswith(f"{self._base_url}/")
            raise TransportError(f"HTTP status {reply.status}", reply.status) from (refusal(reply) if own else None)
        return reply.content


async def answered(question: Callable[..., Any], *args: Any) -> Any:
    """What a callback says, whether it is a coroutine function or not."""
    return await _awaitable(question)(*args)


def run_blocking(flow: Coroutine[Any, Any, T]) -> T:
    """Run a flow to its end. Raises RuntimeError inside a running event loop: there, use the asyncio face."""
    return asyncio.run(flow)


def _awaitable(method: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        answer = method(*args, **kwargs)
        return await answer if inspect.isawaitable(answer) else answer

    return call
