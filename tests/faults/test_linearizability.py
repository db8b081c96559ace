"""The recorded history of three nodes is consistent with a single store.

HOLDFAST_TEST_HISTORY sets the number of recorded operations, by default 1500 in the gate and 20000 under `make soak`.
With HOLDFAST_TEST_CITUS_URL, three nodes on Citus have a history, too; HOLDFAST_TEST_CITUS_FAULT is a shell command that
runs while the history is recorded, and may kill a worker and start it again.
"""

import asyncio
import os
import sys
import time

import pytest
from tests.support.judged_fault import judge
from tests.support.recorded_load import RecordedLoad
from tests.support.soak import amount

OPERATIONS = amount(1500, 20000, "HOLDFAST_TEST_HISTORY")


@pytest.mark.timeout(600 + OPERATIONS / 50)
async def test_the_nodes_answer_as_one_store(site, capsys):
    await answer_as_one_store(site.nodes, capsys)


@pytest.mark.timeout(600 + OPERATIONS / 5)
async def test_the_nodes_answer_as_one_store_on_citus(citus_nodes, capsys):
    await answer_as_one_store(citus_nodes, capsys, os.environ.get("HOLDFAST_TEST_CITUS_FAULT"))


async def answer_as_one_store(nodes, capsys, fault=None):
    async with RecordedLoad(nodes) as load:
        began = time.monotonic()
        load.start(OPERATIONS)
        if fault is not None:
            await (await asyncio.create_subprocess_shell(fault)).wait()
        await load.finish(stop=False)
        took = time.monotonic() - began
    judge(load)
    assert load.operations > 0.9 * OPERATIONS
    with capsys.disabled():
        sys.stdout.write(f"\n{load.operations} operations on {len(load.histories)} keys in {took:.0f} s.\n")
        sys.stdout.write(f"Answers: {dict(load.counts())}.\n")
