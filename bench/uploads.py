"""Uploads vault snapshots as clients do: registers each vault, then imports its CAR file, which also pins it."""

from __future__ import annotations

import asyncio
import os
import random
import time
from dataclasses import dataclass
from statistics import quantiles
from typing import TYPE_CHECKING

import aiohttp
from tests.support.snapshot_vaults import BOUNDARY, form
from tests.support.vault_tokens import VaultKey

from bench import cores
from bench.load import LoadError
from holdfast.content.cars import read_car, write_car
from holdfast.content.snapshots import Manifest, snapshot_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.processes import Server
    from holdfast.content.cids import Block

SEALED_BYTES = 100_000
_PARTS = 10
_COMPARED = 200


@dataclass(frozen=True, slots=True)
class Kept:
    """The vaults that were written, and the cost of writing them.

    Attributes:
        roots, blocks, objects: for each vault, the root's CID, its only raw block's CID, and that block's object.
        memory_mb: the service's memory, by percentage of the vaults written.
        client_share: how much of one core the client used.
    """

    roots: tuple[str, ...]
    blocks: tuple[str, ...]
    objects: tuple[str, ...]
    per_second: float
    p50_ms: float
    p99_ms: float
    client_share: float
    memory_mb: dict[int, float]
    sealed_bytes: int = SEALED_BYTES


def keep_vaults(server: Server, count: int, at_a_time: int) -> Kept:
    """Register `count` vaults and upload a snapshot of each. Raises LoadError for any response other than 200."""
    with cores.children_on(cores.LOAD):
        return asyncio.run(Uploads(server).run(count, at_a_time))


class Uploads:
    """One run."""

    def __init__(self, server: Server) -> None:
        self._server, self._url = server, f"http://127.0.0.1:{server.port}"
        self._made: list[tuple[str, str]] = []
        self._took: list[float] = []
        self._memory: dict[int, float] = {}

    async def run(self, count: int, at_a_time: int) -> Kept:
        """Upload the vaults, then check that the service returns some of them unchanged."""
        keys = [VaultKey() for _ in range(count)]
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=at_a_time)) as http:
            await self._all(at_a_time, iter([self._register(http, number, key) for number, key in enumerate(keys)]))
            begun, cpu = time.monotonic(), time.process_time()
            await self._all(at_a_time, (self._upload(http, key, count) for key in keys))
            seconds, share = time.monotonic() - begun, time.process_time() - cpu
            await self._compare(http)
        return self._kept(count / seconds, share / seconds)

    async def _all(self, at_a_time: int, work: Iterator[object]) -> None:
        async def worker() -> None:
            for one in work:
                await one  # type: ignore[misc]  # coroutines

        await asyncio.gather(*(worker() for _ in range(at_a_time)))

    async def _register(self, http: aiohttp.ClientSession, number: int, key: VaultKey) -> None:
        body = {"credentialId": f"bench-{number}", "identifier": f"bench{number}", "channel": "handle"}
        headers = {"X-Forwarded-For": _address()}
        more = {"did": key.did, "txHash": "0x" + "ab" * 32}
        async with http.post(f"{self._url}/api/dids", json={**body, **more}, headers=headers) as answer:
            await _require(answer)

    async def _upload(self, http: aiohttp.ClientSession, key: VaultKey, count: int) -> None:
        blocks = _snapshot(key)
        headers = {
            **key.bearer(time.time()),
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "X-Forwarded-For": _address(),
        }
        body = form(write_car(blocks[0].cid, blocks))
        begun = time.monotonic()
        async with http.post(f"{self._url}/api/v0/dag/import", data=body, headers=headers) as answer:
            await _require(answer)
        self._took.append(time.monotonic() - begun)
        self._made.append((blocks[0].cid, blocks[1].cid))
        if len(self._made) % max(1, count // _PARTS) == 0:
            self._memory[round(100 * len(self._made) / count)] = self._server.memory_mb()

    async def _compare(self, http: aiohttp.ClientSession) -> None:
        """Check that the service returns a sample of the snapshots unchanged."""
        for root, block in random.sample(self._made, min(_COMPARED, len(self._made))):
            async with http.get(f"{self._url}/ipfs/{root}?format=car", headers={"X-Forwarded-For": _address()}) as car:
                await _require(car)
                found, blocks = read_car(await car.read())
                if (found, set(blocks)) != (root, {root, block}):
                    raise LoadError(f"another CAR file than {root}")

    def _kept(self, per_second: float, client_share: float) -> Kept:
        roots, blocks = zip(*self._made, strict=True)
        folder = self._server.log.parent / "snapshots"
        places = {file.name.partition(".")[0]: file.name for file in folder.iterdir()}
        cuts = quantiles(self._took, n=100)
        return Kept(
            roots=roots,
            blocks=blocks,
            objects=tuple(places[block] for block in blocks),
            per_second=per_second,
            p50_ms=cuts[49] * 1e3,
            p99_ms=cuts[98] * 1e3,
            client_share=client_share,
            memory_mb=self._memory,
        )


def _snapshot(key: VaultKey) -> tuple[Block, ...]:
    manifest = Manifest(root_cid=None, did=key.did, updated_at=int(time.time() * 1e3), wasm_version="0.1.0")
    return snapshot_blocks(manifest, os.urandom(SEALED_BYTES))


def _address() -> str:
    """Return a random client address, so that no limit per address is reached."""
    return ".".join(str(random.randrange(1, 224)) for _ in range(4))


async def _require(answer: aiohttp.ClientResponse) -> None:
    if answer.status != 200:
        raise LoadError(f"{answer.method} {answer.url.path}: {answer.status} {(await answer.text())[:200]}")
