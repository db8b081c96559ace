"""Fake connections to PostgreSQL, for tests of the batches that are sent over them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from holdfast.service.store.postgresql.batcher import Batcher
from holdfast.service.store.postgresql.batches import Kind


class FakeConnection:
    """A fake connection that doubles each number in a batch, or raises the error that is set for the number."""

    is_citus = False

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.errors: dict[int, list[Exception]] = {}
        self.go = asyncio.Event()
        self.go.set()

    async def fetch(self, _statement: str, values: Sequence[Any]) -> list[Any]:
        batch = list(values[0])
        self.batches.append(batch)
        await self.go.wait()
        for number in batch:
            if self.errors.get(number):
                raise self.errors[number].pop(0)
        return [(number * 2,) for number in batch]

    async def close(self) -> None:
        return None


def kind(**more: Any) -> Kind:
    return Kind("double", "", lambda batch: [batch], lambda _batch, rows: [row[0] for row in rows], **more)


def refused(error: type[Exception], times: int = 1) -> list[Exception]:
    return [error("no") for _ in range(times)]


async def ask(batcher: Batcher, what: Kind, numbers: Sequence[int]) -> list[Any]:
    return list(await asyncio.gather(*(batcher.ask(what, n) for n in numbers), return_exceptions=True))
