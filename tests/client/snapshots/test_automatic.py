"""Snapshots are published automatically after a quiet period, and retried with growing delays, but not forever."""

from __future__ import annotations

import asyncio

import pytest
from tests.client.snapshots.devices import Device
from tests.client.snapshots.place_double import PlaceDouble

from holdfast.client import types
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.snapshots.automatic import AutomaticSnapshots, Pauses
from holdfast.client.snapshots.publishing import SnapshotConflict
from holdfast.wire.client_errors import ClientStateError, NetworkError

BUSY = NetworkError("no answer")


class Attempts:
    """Publishing attempts that have the given outcomes in order and then succeed; `slept` records every pause."""

    def __init__(self, *outcomes):
        self.outcomes, self.made, self.slept = list(outcomes), 0, []
        self.automatic = AutomaticSnapshots(self.publish, Pauses(quiet_s=2.0, longest_quiet_s=6.0), sleep=self.sleep)

    async def publish(self):
        self.made += 1
        if self.outcomes and (outcome := self.outcomes.pop(0)) is not None:
            raise outcome

    async def sleep(self, seconds):
        self.slept.append(seconds)
        await asyncio.sleep(0)

    async def finished(self):
        async with asyncio.timeout(60):
            await self.automatic._task


async def test_many_changes_are_one_upload():
    attempts = Attempts()
    for _ in range(5):
        attempts.automatic.changed()
    await attempts.finished()
    assert (attempts.made, attempts.slept) == (1, [2.0])


class ChangedMeanwhile(Attempts):
    async def sleep(self, seconds):
        await super().sleep(seconds)
        if not self.made:
            self.automatic.changed()


async def test_changes_without_end_do_not_put_it_off_for_ever():
    attempts = ChangedMeanwhile()
    attempts.automatic.changed()
    await attempts.finished()
    assert attempts.slept[:3] == [2.0, 2.0, 2.0]
    assert attempts.made >= 1


@pytest.mark.parametrize(
    "lasting",
    [SnapshotConflict("root"), RequestRefused("DID_NOT_REGISTERED", 403), RequestRefused("not_found", 404)],
)
async def test_what_would_end_the_same_waits_for_the_next_change(lasting):
    attempts = Attempts(lasting)
    attempts.automatic.changed()
    await attempts.finished()
    assert (attempts.made, attempts.automatic.last_error) == (1, lasting)
    attempts.automatic.changed()
    await attempts.finished()
    assert attempts.made == 2


async def test_settling_brings_up_at_once_what_waits():
    attempts = Attempts()
    assert await attempts.automatic.settle(1.0)
    assert attempts.made == 0
    attempts.automatic.changed()
    assert await attempts.automatic.settle(1.0)
    assert (attempts.made, attempts.slept) == (1, [])


async def until(condition, within_s=60.0):
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.02)


async def test_a_change_of_the_vault_goes_up_by_itself_and_what_failed_follows(tmp_path):
    place = PlaceDouble(lost_requests=2)
    config = types.SnapshotConfig(debounce_s=0.01)
    async with Device(tmp_path, place, config) as device:
        device.client._snapshots._automatic._pauses = Pauses(quiet_s=0.01, first_retry_s=0.05)
        await device.made()
        await until(lambda: "pinned" in device.states)
        assert "failed" in device.states
        assert device.states.index("failed") < device.states.index("pinned")
        await device.change()
        sealed = device.store.load().revision

        async def up():
            return (await device.client.snapshot_state()).acknowledged_revision >= sealed

        async with asyncio.timeout(60):
            while not await up():
                await asyncio.sleep(0.02)


async def test_what_could_not_go_up_goes_up_when_the_vault_is_opened_again(tmp_path):
    from tests.client.snapshots.devices import SECRET

    place = PlaceDouble()
    async with Device(tmp_path, place) as device:
        await device.made()
    assert not place.records
    async with Device(tmp_path, place, types.SnapshotConfig(debounce_s=0.01)) as again:
        await again.vault.unlock(SECRET)
        await until(lambda: "pinned" in again.states)


async def test_a_closed_client_uploads_nothing_more(tmp_path):
    attempts = Attempts()
    await attempts.automatic.close()
    attempts.automatic.changed()
    for _ in range(5):
        await asyncio.sleep(0)
    assert (attempts.made, attempts.slept) == (0, [])
    place = PlaceDouble()
    async with Device(tmp_path, place, types.SnapshotConfig()) as device:
        await device.client.close()
        await device.made()
        with pytest.raises(ClientStateError, match="the client is closed"):
            await device.client.publish_snapshot()
        assert (device.vault.listeners, place.requests) == ([], [])
