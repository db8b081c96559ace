"""The recorded history of three nodes is consistent with a single store, and planted errors are detected.

HOLDFAST_TEST_HISTORY sets the number of recorded operations, by default 1500 in the gate and 20000 under `make soak`.
With HOLDFAST_TEST_CITUS_URL, three nodes on Citus have a history, too, and races under `make soak`; HOLDFAST_TEST_CITUS_FAULT
is a shell command that runs while the history is recorded, and may kill a worker and start it again.
"""

import asyncio
import os
import random
import sys
import time
from dataclasses import replace

import pytest
from tests.support.judged_fault import judge
from tests.support.linearizability import explained
from tests.support.nodes import Refusals
from tests.support.recorded_load import RecordedLoad
from tests.support.soak import amount

OPERATIONS = amount(1500, 20000, "HOLDFAST_TEST_HISTORY")
RACES = 300
PLANTED = amount(200, 1000)  # of each kind
# A flipped read next to a write that runs at the same time is explained by it; on a busy machine more of them do.
FOUND = 0.9


def flipped_read(kind, history, chance):
    """Replace the result of one read with another value that the key could have had.

    Return None if the history has no read.
    """
    reads = [n for n, operation in enumerate(history) if operation.name == "read"]
    if not reads:
        return None
    n = chance.choice(reads)
    values = [*range(4)] if kind == "address" else [None, *(one.value for one in history if one.name == "claim")]
    others = [value for value in values if value != history[n].result]
    return _with(history, n, chance.choice(others)) if others else None


def lost_write(kind, history, chance):
    """Remove one acknowledged write, so that later operations no longer see it.

    Return None if nothing followed a write.
    """
    if kind in {"session", "credential"}:
        won = [one for one in history if one.result == "won"]
        later = {n for n, one in enumerate(history) if won and one.name == "read" and one.call > won[0].back}
        if not later:
            return None
        return [replace(one, result=None) if n in later else one for n, one in enumerate(history)]
    accepted = {"address": ("opened",), "code": ("verified",)}[kind]
    found = [n for n, one in enumerate(history) if one.result in accepted]
    return _second_success(kind, history, chance, found)


def _second_success(kind, history, chance, found):
    """Turn a refused operation into a success: a fourth registration, or a code that is used twice."""
    refused = [n for n, one in enumerate(history) if one.result == "refused" and one.name != "read"]
    if not found or not refused:
        return None
    return _with(history, chance.choice(refused), "opened" if kind == "address" else "verified")


def second_owner(kind, history, chance):
    """Turn one refused claim into a successful one. Return None if no claim was refused."""
    refused = [n for n, one in enumerate(history) if one.name == "claim" and one.result == "lost"]
    return _with(history, chance.choice(refused), "won") if refused and kind != "address" else None


def _with(history, n, result):
    return [*history[:n], replace(history[n], result=result), *history[n + 1 :]]


PLANTS = (flipped_read, lost_write, second_owner)


@pytest.mark.timeout(600 + OPERATIONS / 50)
async def test_the_nodes_answer_as_one_store(site, capsys):
    await answer_as_one_store(site.nodes, capsys)


@pytest.mark.timeout(600 + OPERATIONS / 5)
async def test_the_nodes_answer_as_one_store_on_citus(citus_nodes, capsys):
    await answer_as_one_store(citus_nodes, capsys, os.environ.get("HOLDFAST_TEST_CITUS_FAULT"))


@pytest.mark.timeout(600 + RACES * 10)
@pytest.mark.soak
async def test_an_identifier_that_sixteen_claim_at_once_has_one_owner_on_citus(citus_nodes, capsys):
    refusals = Refusals(citus_nodes)
    async with RecordedLoad(citus_nodes) as load:
        for _ in range(RACES):
            await load.race(16)
    judge(load)
    assert refusals.not_for_silence() == []
    with capsys.disabled():
        sys.stdout.write(f"\n{len(load.histories)} races. Answers: {dict(load.counts())}.\n")


async def answer_as_one_store(nodes, capsys, fault=None):
    async with RecordedLoad(nodes) as load:
        began = time.monotonic()
        load.start(OPERATIONS)
        if fault is not None:
            await (await asyncio.create_subprocess_shell(fault)).wait()
        await load.finish(stop=False)
        took = time.monotonic() - began
    judge(load)
    checked = time.monotonic() - began - took
    assert load.operations > 0.9 * OPERATIONS
    found = {plant.__name__: _share_found(plant, load.histories) for plant in PLANTS}
    with capsys.disabled():
        sys.stdout.write(
            f"\n{load.operations} operations on {len(load.histories)} keys in {took:.0f} s, checked in {checked:.1f} s."
            f"\nAnswers: {dict(load.counts())}.\nPlanted errors found: {found}.\n"
        )
    assert min(found.values()) >= FOUND, found


def _share_found(plant, histories):
    """Plant one error in each of many histories, and return the share of histories in which the check detects it."""
    chance = random.Random(7)
    found = planted = 0
    while planted < PLANTED:
        kind, history = chance.choice(histories)
        wrong = plant(kind, history, chance)
        if wrong is not None:
            planted += 1
            found += not explained(kind, wrong)
    return found / planted
