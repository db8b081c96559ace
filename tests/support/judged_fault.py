"""Generates load during a fault, and checks every response."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Callable

from tests.support.nodes import Nodes
from tests.support.recorded_load import Answer, RecordedLoad
from tests.support.serving import PATIENCE_S

_BEFORE_S, _AFTER_S = 0.7, 0.7
_ENOUGH, _WELL_S = 20, 0.5
_ALLOWED = {
    "200", "409 identifier_taken", "409 credential_already_registered", "429 ip_limit_reached",
    "503 database_unavailable",
}  # fmt: skip
# The limit covers several attempts: a node gives up connecting to the database after 1 s and waiting after 2 s, retries
# a read once, and needs two writes to check a code.
_ANSWERED_WITHIN_S = 15.0


@contextlib.asynccontextmanager
async def load_during(nodes: Nodes, *, broken: bool = False) -> AsyncIterator[RecordedLoad]:
    """Generate load before, during and after the block, which causes and ends a fault. Then check every response.

    Args:
        nodes: where the load is sent.
        broken: whether connections to nodes may break.
    """
    async with RecordedLoad(nodes, seed=time.monotonic_ns()) as load:
        load.start()
        await asyncio.sleep(_BEFORE_S)
        yield load
        await until_well(load)
        await asyncio.sleep(_AFTER_S)
        await load.finish()
    judge(load, broken=broken)


async def until_well(load: RecordedLoad) -> None:
    """Wait until enough responses in a row were good, over at least half a second, without restarting anything.

    Both the number and the time are required, because a busy machine sends few responses in half a second.
    """
    since, first = time.monotonic(), len(load.answers)

    def latest() -> list[Answer]:
        good = itertools.takewhile(lambda answer: answer.status in {200, 409, 429}, reversed(load.answers[first:]))
        return [answer for answer in good if answer.at >= since]

    def is_well() -> bool:
        run = latest()
        return len(run) > _ENOUGH and run[0].at - run[-1].at >= _WELL_S

    assert await _comes_true(is_well), f"it did not recover: {load.counts()}"


async def until_refused(load: RecordedLoad) -> None:
    since = time.monotonic()

    def is_refused() -> bool:
        return any(answer.status == 503 and answer.at >= since for answer in load.answers)

    assert await _comes_true(is_refused), f"nothing was refused: {load.counts()}"


async def _comes_true(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not (held := holds()) and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    return held


def judge(load: RecordedLoad, *, broken: bool = False) -> None:
    """Assert that each response is documented and in time, and that all of them are consistent with a single store."""
    for answer in load.answers:
        line = f"{answer.status} {answer.error or ''}".strip()
        assert line in _ALLOWED or (broken and answer.status == 0), answer
        assert answer.took < _ANSWERED_WITHIN_S, answer
        assert answer.status != 503 or int(answer.retry_after or 0) >= 1, answer
    unexplained = load.unexplained()
    assert not unexplained, unexplained


def unavailable(load: RecordedLoad) -> int:
    return sum(answer.status == 503 for answer in load.answers)
