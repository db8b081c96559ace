"""The database's disk becomes slow: the kernel limits its writes, or the server is frozen again and again."""

import asyncio
import time
from pathlib import Path

import pytest
from tests.support.judged_fault import load_during
from tests.support.slow_disk import slow_disk, why_not
from tests.support.soak import SOAK

SLOW_S = 30.0 if SOAK else 6.0
WRITES_PER_S = 4  # a commit takes some 0.5 s; the slowest wait for other commits
PULSES = 6
REASON = why_not(Path("/tmp"))


@pytest.mark.skipif(REASON is not None, reason=f"the disk cannot be slowed down: {REASON}")
@pytest.mark.soak
async def test_the_databases_disk_is_slow(site):
    async with load_during(site.nodes) as load:
        began = time.monotonic()
        with slow_disk(site.postgres.folder, site.postgres.process_ids(), WRITES_PER_S):
            await asyncio.sleep(SLOW_S)
            _judge_meanwhile(load, began)


@pytest.mark.soak
async def test_the_database_stalls_again_and_again(site):
    """A server that is repeatedly frozen behaves like one with a slow disk; this test also runs without root."""
    async with load_during(site.nodes) as load:
        began = time.monotonic()
        for _ in range(PULSES):
            await asyncio.to_thread(site.postgres.freeze)
            await asyncio.sleep(0.7)
            await asyncio.to_thread(site.postgres.thaw)
            await asyncio.sleep(0.1)
        _judge_meanwhile(load, began)


def _judge_meanwhile(load, began):
    """Assert that responses came late, and that some of them were successes, because the database is only slow."""
    meanwhile = [answer for answer in load.answers if answer.at > began]
    assert max(answer.took for answer in meanwhile) > 0.4, "the disk was not slow"
    assert any(answer.status == 200 for answer in meanwhile), load.counts()
