"""Reads from one chain. Identical concurrent reads share one upstream call, and results are cached for two seconds."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from holdfast.rules.limits import CHAIN_CACHE_S
from holdfast.service.telemetry.calls import calling

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.transports import Transport

MAX_CACHED = 10_000
MAX_CACHED_BYTES = 4096  # of one result; an endpoint that returns megabytes would otherwise fill the memory


class CountedTransport:
    """Wraps a transport, and counts each of its requests as a call to a provider."""

    def __init__(self, provider: str, transport: Transport) -> None:
        self._provider = provider
        self._transport = transport

    async def post(self, url: str, body: bytes) -> bytes:
        """See Transport."""
        # Only the client's time limit or the end of the process cancels a call.
        with calling(self._provider, cancelled="timeout"):
            return await self._transport.post(url, body)


class ChainReader:
    """Calls eth_call and eth_getBalance with a JSON-RPC client that is created when first needed."""

    def __init__(self, connect: Callable[[], RpcClient]) -> None:
        self._connect = connect
        self._client: RpcClient | None = None
        self._in_flight: dict[tuple[Any, ...], asyncio.Future[Any]] = {}
        self._cached: OrderedDict[tuple[Any, ...], tuple[float, Any]] = OrderedDict()

    @property
    def client(self) -> RpcClient:
        """Return the underlying client, for reads that must not be shared or cached."""
        if self._client is None:
            self._client = self._connect()
        return self._client

    async def call(self, to: str, data: bytes, size: int) -> bytes:
        """Return what the contract returns, at least `size` bytes.

        Raises RpcError, for example if there is no contract.
        """
        answer: bytes = await self._shared(("call", to, data), lambda: self.client.eth_call(to, data, at_least=size))
        return answer

    async def balance(self, address: bytes) -> int:
        """Return an address's balance in wei. Raises RpcError."""
        wei: int = await self._shared(("balance", address), lambda: self.client.get_balance("0x" + address.hex()))
        return wei

    async def _shared(self, key: tuple[Any, ...], ask: Callable[[], Awaitable[Any]]) -> Any:
        cached = self._cached.get(key)
        if cached is not None and time.monotonic() - cached[0] < CHAIN_CACHE_S:
            return cached[1]
        task = self._in_flight.get(key)
        if task is None:
            task = self._in_flight[key] = asyncio.ensure_future(ask())
            task.add_done_callback(lambda done: self._finished(key, done))
        # The call is shielded, because a cancelled caller must not cancel it for the other callers.
        return await asyncio.shield(task)

    def _finished(self, key: tuple[Any, ...], done: asyncio.Future[Any]) -> None:
        del self._in_flight[key]
        if done.cancelled() or done.exception() is not None:
            return
        result = done.result()
        if isinstance(result, bytes) and len(result) > MAX_CACHED_BYTES:
            return
        self._cached[key] = (time.monotonic(), result)
        self._cached.move_to_end(key)
        if len(self._cached) > MAX_CACHED:
            self._cached.popitem(last=False)
