"""Load during a fault, and what must hold of every answer."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from tests.support.recorded_load import RecordedLoad
from tests.support.serving import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.nodes import Nodes

_BEFORE_S, _AFTER_S = 0.7, 0.7
_ALLOWED = {
    "200", "409 identifier_taken", "409 credential_already_registered", "429 ip_limit_reached",
    "503 database_unavailable",
}  # fmt: skip
# Connecting ends after 1 s, waiting for an answer after 2 s; a read is sent twice, a check of a code is two writes.
_ANSWERED_WITHIN_S = 15.0


@contextlib.asynccontextmanager
async def load_during(nodes: Nodes, *, broken: bool = False) -> AsyncIterator[RecordedLoad]:
    """Load before, in and after the block, whose fault is over at its end. Then every answer is judged.

    Args:
        nodes: where the load goes.
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
    """Wait until the load meets no refusal for a while: nobody restarts anything meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        since = time.monotonic()
        await asyncio.sleep(0.5)
        recent = [answer for answer in load.answers if answer.at >= since]
        if len(recent) > 20 and all(answer.status in {200, 409, 429} for answer in recent):
            return
    raise AssertionError(f"it did not recover: {load.counts()}")


def judge(load: RecordedLoad, *, broken: bool = False) -> None:
    """Every answer is documented and in time, and one store explains all of them."""
    for answer in load.answers:
        line = f"{answer.status} {answer.error or ''}".strip()
        assert line in _ALLOWED or (broken and answer.status == 0), answer
        assert answer.took < _ANSWERED_WITHIN_S, answer
        assert answer.status != 503 or int(answer.retry_after or 0) >= 1, answer
    assert load.unexplained() == []


def unavailable(load: RecordedLoad) -> int:
    """How many answers were 503."""
    return sum(answer.status == 503 for answer in load.answers)
