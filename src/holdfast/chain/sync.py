"""The JSON-RPC client for programs without an event loop: scripts and commands that make a handful of calls."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from holdfast.chain.rpc import TIMEOUT_S, RpcClient
from holdfast.chain.transports import HttpxTransport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    import httpx


class SyncRpcClient:
    """A context manager whose calls block. Not for use where an event loop runs."""

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._runner = asyncio.Runner()
        self._http: httpx.AsyncClient | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._http is not None:
            self._runner.run(self._http.aclose())
        self._runner.close()

    def call(self, method: str, params: list[Any] | tuple[Any, ...] = ()) -> Any:
        """See RpcClient.call."""
        return self.run(lambda rpc: rpc.call(method, params))

    def run(self, question: Callable[[RpcClient], Awaitable[Any]]) -> Any:
        """What `question` answers when given the asynchronous client: `sync.run(lambda rpc: rpc.get_balance(a))`."""
        return self._runner.run(self._ask(question))

    async def _ask(self, question: Callable[[RpcClient], Awaitable[Any]]) -> Any:
        import httpx  # in the extras `client` and `world`, not in the plain service

        if self._http is None:
            self._http = httpx.AsyncClient(timeout=self._timeout_s)
        return await question(RpcClient(self._url, HttpxTransport(self._http), timeout_s=self._timeout_s))
