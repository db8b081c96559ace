"""GET /readyz does what requests do: it reads a row and writes one, and few of its own requests share a write."""

import asyncio

import pytest

from holdfast.service.operations import readiness
from holdfast.service.operations.readiness import WRITTEN_EVERY_S, Readiness
from holdfast.service.store.port import StoreUnavailable


class FakeStore:
    """A store of which each part may be broken."""

    def __init__(self):
        self.broken, self.writes, self.stalled = set(), 0, None

    def __getattr__(self, part):
        async def answer(*_):
            if part in self.broken:
                raise StoreUnavailable(part)

        return answer

    async def take_lease(self, *_):
        self.writes += 1
        if self.stalled is not None:
            await self.stalled.wait()
        await self.__getattr__("take_lease")()
        return True


class Ready:
    """A readiness with a clock that the test sets."""

    def __init__(self):
        self.at, self.store = 0.0, FakeStore()
        self._readiness = Readiness(self.store, lambda: self.at)

    async def __call__(self):
        try:
            await self._readiness.check()
        except StoreUnavailable:
            return False
        return True


@pytest.mark.parametrize("part", ["ping", "claim_of", "require_room", "take_lease"])
async def test_each_part_is_asked_and_recovers(part):
    ready = Ready()
    assert await ready()
    ready.store.broken.add(part)
    ready.at += WRITTEN_EVERY_S
    assert not await ready()
    ready.store.broken.clear()
    ready.at += WRITTEN_EVERY_S
    assert await ready()


async def test_requests_within_a_second_share_a_write():
    ready = Ready()
    assert all(await asyncio.gather(*(ready() for _ in range(20))))
    ready.at += WRITTEN_EVERY_S / 2
    assert await ready() and ready.store.writes == 1
    ready.at += WRITTEN_EVERY_S / 2
    assert await ready() and ready.store.writes == 2


async def test_a_write_that_stalls_is_not_waited_for_and_not_repeated(monkeypatch):
    monkeypatch.setattr(readiness, "WRITTEN_WITHIN_S", 0.01)
    ready = Ready()
    ready.store.stalled = asyncio.Event()
    for _ in range(3):
        ready.at += WRITTEN_EVERY_S
        assert not await ready()
    assert ready.store.writes == 1
    ready.store.stalled.set()
    monkeypatch.setattr(readiness, "WRITTEN_WITHIN_S", 60.0)
    assert await ready()
