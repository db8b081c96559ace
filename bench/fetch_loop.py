"""A process that fetches as a Python client does: each line of input is an order, each line of output its result.

Every block is checked against the CID that was asked for, as clients of trustless gateways must.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from statistics import quantiles
from typing import TYPE_CHECKING, Literal, cast

import aiohttp

from holdfast.client.http.calls import Call, Reply, Retries, result
from holdfast.client.http.transport import HttpTransport
from holdfast.client.storage.gateway import block_call
from holdfast.client.storage.snapshots import storage_errors
from holdfast.content.cars import MEDIA_TYPE, read_car
from holdfast.wire.client_errors import ServiceError, StorageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    Send = Callable[[Call[object]], Awaitable[object]]

Library = Literal["httpx2", "aiohttp"]
Form = Literal["block", "car"]


@dataclass(frozen=True, slots=True)
class Order:
    """What one turn fetches, for how long, and with how many concurrent requests.

    `library` "httpx2" is Holdfast's client; "aiohttp" is a faster HTTP client around the same calls.
    `named` has, for everything that may be fetched, its path and its CIDs: a block's, or a CAR file's root and the
    blocks that it links to. Each request fetches a random entry of `named`.
    """

    url: str
    library: Library
    form: Form
    named: tuple[tuple[str, ...], ...]
    at_a_time: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one turn measured. `cpu_s` is the loop's own CPU time."""

    answers: int
    seconds: float
    cpu_s: float
    p50_us: float
    p99_us: float


async def fetch(order: Order) -> Fetched:
    """Carry out an order. Raises ServiceError or aiohttp.ClientError if anything cannot be verified."""
    calls, took = _calls(order), list[float]()
    async with _SENDERS[order.library](order) as send:
        begun, cpu = time.monotonic(), time.process_time()
        workers = [_fetch_until(begun + order.seconds, send, calls, took) for _ in range(order.at_a_time)]
        await asyncio.gather(*workers)
        seconds, spent = time.monotonic() - begun, time.process_time() - cpu
    cuts = quantiles(took, n=100, method="inclusive") if len(took) > 1 else took * 99
    return Fetched(len(took), seconds, spent, cuts[49] * 1e6, cuts[98] * 1e6)


async def _fetch_until(end: float, send: Send, calls: Iterator[Call[object]], took: list[float]) -> None:
    """Send requests one after another until `end`, but at least one, however slow the machine is."""
    now = 0.0
    while now < end:
        begun = time.monotonic()
        await send(next(calls))
        now = time.monotonic()
        took.append(now - begun)


def _calls(order: Order) -> Iterator[Call[object]]:
    """Yield requests endlessly, each with a different client address, so that no limit per address applies."""
    make: Callable[..., Call[object]] = _block_call if order.form == "block" else _car_call
    while True:
        path, *cids = random.choice(order.named)
        call = make(*cids)
        address = ".".join(str(random.randrange(1, 224)) for _ in range(4))
        yield replace(call, path=path, headers={**call.headers, "X-Forwarded-For": address})


def _block_call(cid: str) -> Call[object]:
    return cast("Call[object]", block_call(cid))


def _car_call(root: str, *linked: str) -> Call[object]:
    return Call(
        method="GET",
        path=f"/ipfs/{root}",
        query={"format": "car"},
        headers={"Accept": MEDIA_TYPE},
        read=lambda reply: _whole(root, {root, *linked}, reply.content),
    )


def _whole(root: str, wanted: set[str], data: bytes) -> dict[str, bytes]:
    """Return a CAR file's blocks, each verified by the reader. Raises StorageError unless it holds exactly `wanted`."""
    with storage_errors():
        found, blocks = read_car(data)
    if found != root or set(blocks) != wanted:
        raise StorageError("the CAR file holds another snapshot than the one that was asked for")
    return blocks


@asynccontextmanager
async def _httpx2(order: Order) -> AsyncIterator[Send]:
    """Send with Holdfast's unmodified client, whose httpx2 keeps 20 idle connections; with more it would be slower."""
    http = HttpTransport(order.url, retries=Retries(attempts=1))
    try:
        yield http.send
    finally:
        await http.close()


@asynccontextmanager
async def _aiohttp(order: Order) -> AsyncIterator[Send]:
    async with aiohttp.ClientSession(order.url, connector=aiohttp.TCPConnector(limit=order.at_a_time)) as http:

        async def send(call: Call[object]) -> object:
            async with http.request(call.method, call.path, params=call.query, headers=call.headers) as answer:
                return result(call, Reply(answer.status, {}, await answer.read()))

        yield send


_SENDERS = {"httpx2": _httpx2, "aiohttp": _aiohttp}


def main() -> None:
    """Carry out orders until standard input ends; an order that fails results in {"error": ...}."""
    for line in sys.stdin:
        try:
            said = asdict(asyncio.run(fetch(Order(**json.loads(line)))))
        except (ServiceError, aiohttp.ClientError) as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
