"""A wait ends at its limit with TimeoutError; a wait that is cancelled for another reason stays cancelled."""

import asyncio

import pytest

from holdfast.service.http.deadlines import Deadlines


async def test_what_comes_in_time_is_returned_and_what_does_not_is_cut():
    deadlines = Deadlines(0.01)
    assert await Deadlines(60).within(asyncio.sleep(0, "came")) == "came"
    with pytest.raises(TimeoutError):
        await deadlines.within(asyncio.Event().wait())
    assert asyncio.current_task().cancelling() == 0


async def test_a_cancelled_wait_is_not_late():
    waiting = asyncio.create_task(Deadlines(60).within(asyncio.Event().wait()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
