"""An asynchronous JSON-RPC client, which sends its requests through a `Transport`.

Reads made in one turn of the event loop are sent as one batch, and are retried a few times. Other calls are sent once.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.chain import jsonrpc, values
from holdfast.chain.errors import AnswerTooLarge, RpcError, TransportError
from holdfast.wire.retries import CHAIN

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from holdfast.chain.transports import Transport
    from holdfast.chain.values import Receipt

TIMEOUT_S = 10.0
MAX_BATCH = 100
MAX_IN_FLIGHT = 8  # batches in flight at once; further calls wait and form the next batch
RETRY_DELAYS_S = CHAIN.delays_s
_PASSING = frozenset({None, *CHAIN.statuses})  # None: no connection
_BATCH_REFUSALS = frozenset({400, 405, 413, 415, 422})

T = TypeVar("T")


class RpcClient:
    """A client for one JSON-RPC endpoint. Its methods raise only RpcError."""

    def __init__(
        self,
        url: str,
        transport: Transport,
        *,
        batches: bool = True,
        timeout_s: float = TIMEOUT_S,
        delays_s: Sequence[float] | None = None,
    ) -> None:
        """`delays_s`: the delays before a read is repeated; by default RETRY_DELAYS_S."""
        self._url = url
        self._transport = transport
        self._batches = batches
        self._timeout_s = timeout_s
        self._delays_s = RETRY_DELAYS_S if delays_s is None else delays_s
        self._ids = itertools.count(1)
        self._waiting: list[tuple[jsonrpc.RpcRequest, asyncio.Future[Any]]] = []
        self._in_flight: set[asyncio.Task[None]] = set()

    async def call(self, method: str, params: list[Any] | tuple[Any, ...] = ()) -> Any:
        """Return the result of one JSON-RPC call. Raises RpcError for any other outcome, a timeout included."""
        request = jsonrpc.RpcRequest(next(self._ids), method, list(params))
        try:
            async with asyncio.timeout(self._timeout_s):
                if not jsonrpc.is_read(method):
                    return await self._alone(request)
                return await self._together(request)
        except TimeoutError:
            raise RpcError("no answer in time") from None

    async def eth_call(self, to: str, data: bytes, *, at_least: int = 32, block: str = "latest") -> bytes:
        """Return the result of a contract call.

        A result of fewer than `at_least` bytes is an error, because a call to an address without code returns no bytes.
        """
        result = values.data(await self.call("eth_call", [{"to": to, "data": "0x" + data.hex()}, block]))
        if len(result) < at_least:
            raise RpcError(f"answer of {len(result)} bytes where {at_least} were due")
        return result

    async def get_balance(self, address: str) -> int:
        """Return the balance of `address` in wei."""
        return values.quantity(await self.call("eth_getBalance", [address, "latest"]))

    async def get_code(self, address: str) -> bytes:
        """Return the contract code at `address`, or empty bytes if none exists."""
        return values.data(await self.call("eth_getCode", [address, "latest"]))

    async def block_time(self) -> int:
        """Return the Unix time of the newest block."""
        block = await self.call("eth_getBlockByNumber", ["latest", False])
        return values.count(values.field(block, "timestamp"))

    async def chain_id(self) -> int:
        """Return the chain ID (EIP-695)."""
        return values.quantity(await self.call("eth_chainId"))

    async def block_number(self) -> int:
        """Return the number of the newest block."""
        return values.count(await self.call("eth_blockNumber"))

    async def get_transaction_receipt(self, transaction_hash: str) -> Receipt | None:
        """Return the receipt of a transaction, or None until the transaction is mined."""
        return values.receipt(await self.call("eth_getTransactionReceipt", [transaction_hash]), transaction_hash)

    async def _together(self, request: jsonrpc.RpcRequest) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._flush)
        self._waiting.append((request, future))
        return await future

    def _flush(self) -> None:
        """Send the waiting calls in batches, with at most `MAX_IN_FLIGHT` batches in flight at once.

        Batches therefore grow under load, while a single call never waits. If the endpoint refuses batches, each call
        is sent in its own request, and the number of concurrent requests is not limited.
        """
        size = MAX_BATCH if self._batches else 1
        while self._waiting and (not self._batches or len(self._in_flight) < MAX_IN_FLIGHT):
            task = asyncio.ensure_future(self._send_batch(self._waiting[:size]))
            del self._waiting[:size]
            self._in_flight.add(task)
            task.add_done_callback(self._batch_done)

    def _batch_done(self, task: asyncio.Task[None]) -> None:
        self._in_flight.discard(task)
        if not task.cancelled():  # the loop is ending and accepts no new task
            self._flush()

    async def _send_batch(self, pending: list[tuple[jsonrpc.RpcRequest, asyncio.Future[Any]]]) -> None:
        """Send a batch and resolve its futures.

        The time limit applies to a batch even if no caller is waiting for it any more.
        """
        requests = [request for request, _ in pending]
        try:
            async with asyncio.timeout(self._timeout_s):
                results = await self._ask(requests)
        except TimeoutError:
            results = [RpcError("no answer in time")] * len(requests)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait are told
            results = [error] * len(requests)
        except BaseException:
            for _, future in pending:
                future.cancel()
            raise
        for (_, future), result in zip(pending, results, strict=True):
            _settle(future, result)

    async def _ask(self, requests: list[jsonrpc.RpcRequest]) -> list[Any]:
        if len(requests) == 1:
            return [await self._with_retries(lambda: self._alone(requests[0]))]
        answer = await self._with_retries(lambda: self._batch(requests))
        if not jsonrpc.refuses_batches(answer, len(requests)):
            return jsonrpc.outcomes(answer, requests)
        self._batches = False
        return await asyncio.gather(*(self._one_of_many(request) for request in requests))

    async def _one_of_many(self, request: jsonrpc.RpcRequest) -> Any:
        try:
            return await self._with_retries(lambda: self._alone(request))
        except RpcError as error:
            return error

    async def _with_retries(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Call `attempt`, and repeat it after each of the delays as long as the transport's failures are temporary."""
        for delay in self._delays_s:
            try:
                return await attempt()
            except TransportError as error:
                if error.status not in _PASSING or isinstance(error, AnswerTooLarge):
                    raise
            await asyncio.sleep(delay)
        return await attempt()

    async def _alone(self, request: jsonrpc.RpcRequest) -> Any:
        body = await self._transport.post(self._url, jsonrpc.write([request], batch=False))
        return jsonrpc.outcome(jsonrpc.parse(body), request)

    async def _batch(self, requests: list[jsonrpc.RpcRequest]) -> Any:
        """Return the response to a batch. If it is not a list, the endpoint refuses batches."""
        try:
            return jsonrpc.parse(await self._transport.post(self._url, jsonrpc.write(requests, batch=True)))
        except TransportError as error:
            if error.status in _BATCH_REFUSALS:
                return None
            raise


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    if future.done():
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
