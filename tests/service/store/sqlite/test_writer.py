"""The conditions under which a group commit waits for more writes."""

from __future__ import annotations

import asyncio
import threading
from itertools import count
from typing import TYPE_CHECKING

import pytest

from holdfast.service.store.sqlite import schema
from holdfast.service.store.sqlite.writer import PACE_S, GroupCommitWriter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("reads", "together", "pauses"), [(0, 2, 0), (1, 1, 0), (1, 2, 1)])
async def test_commits_are_paced_only_after_shared_ones_while_others_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: int, together: int, pauses: int
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("holdfast.service.store.sqlite.writer.sleep", slept.append)
    paced = GroupCommitWriter(schema.connect(tmp_path / "x.db"), lambda: None, count(step=reads).__next__)
    taken, all_there = threading.Event(), threading.Event()
    alone = asyncio.create_task(paced.write(lambda _: (taken.set(), all_there.wait())))
    await asyncio.to_thread(taken.wait)
    rest = asyncio.gather(*(paced.write(lambda _: None) for _ in range(together)))
    await asyncio.sleep(0)
    all_there.set()
    await asyncio.gather(alone, rest)
    await paced.close()
    assert slept == [PACE_S] * pauses
