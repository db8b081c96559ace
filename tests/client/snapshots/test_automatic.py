"""Snapshots are published automatically after a quiet period; vectors/flows/retries.json says what follows a failure."""

import asyncio

import pytest
from tests.client.snapshots.devices import Device
from tests.client.snapshots.fake_host import FakeHost
from tests.support.tasks import all_others

from holdfast.client import types
from holdfast.client.snapshots import automatic
from holdfast.client.snapshots.automatic import AutomaticSnapshots
from holdfast.wire.client_errors import ClientStateError, NetworkError
from holdfast.wire.retries import SNAPSHOTS


class Attempts:
    """Publishing attempts, of which `failing` fail; `slept` records every pause, in which a `restless` vault changes."""

    def __init__(self, *, restless=False, failing=0):
        self.made, self.slept, self.restless, self.failing = 0, [], restless, failing
        self.automatic = AutomaticSnapshots(self.publish, quiet_s=2.0, sleep=self.sleep)

    async def publish(self):
        self.made += 1
        if self.made <= self.failing:
            raise NetworkError("no answer")

    async def sleep(self, seconds):
        self.slept.append(seconds)
        await asyncio.sleep(0)
        if self.restless and not self.made:
            self.automatic.changed()

    async def changed(self, times=1):
        for _ in range(times):
            self.automatic.changed()
        async with asyncio.timeout(60):
            await all_others()


async def test_many_changes_are_one_upload_and_changes_without_end_do_not_put_it_off_for_ever():
    attempts = Attempts()
    await attempts.changed(5)
    assert (attempts.made, attempts.slept) == (1, [2.0])
    restless = Attempts(restless=True)
    await restless.changed()
    assert restless.slept[:3] == [2.0, 2.0, 2.0] and restless.made >= 1


async def test_settling_brings_up_at_once_what_waits():
    attempts = Attempts()
    assert await attempts.automatic.settle(1.0)
    assert attempts.made == 0
    attempts.automatic.changed()
    assert await attempts.automatic.settle(1.0)
    assert (attempts.made, attempts.slept) == (1, [])
    attempts = Attempts(failing=2)
    attempts.automatic.changed()
    assert not await attempts.automatic.settle(1.0)
    async with asyncio.timeout(60):
        await all_others()
    assert (attempts.made, attempts.slept) == (3, [SNAPSHOTS.first_s, 2 * SNAPSHOTS.first_s]), "the retries go on"


async def until(condition):
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.02)


async def test_a_change_of_the_vault_goes_up_by_itself_and_what_failed_follows(tmp_path, monkeypatch):
    monkeypatch.setattr(automatic, "SNAPSHOTS", SNAPSHOTS._replace(first_s=0.01))
    host = FakeHost(lost_requests=2)
    async with Device(tmp_path, host, types.SnapshotConfig()) as device:

        async def is_up():
            return (await device.client.snapshot_state()).acknowledged_revision >= device.store.load().revision

        await device.made()
        await until(is_up)
        assert device.states.index("failed") < device.states.index("pinned")
        await device.change()
        await until(is_up)


async def test_a_closed_client_uploads_nothing_more(tmp_path):
    attempts = Attempts()
    await attempts.automatic.close()
    attempts.automatic.changed()
    await asyncio.sleep(0)
    assert (attempts.made, attempts.slept) == (0, [])
    host = FakeHost()
    async with Device(tmp_path, host, types.SnapshotConfig()) as device:
        await device.client.close()
        await device.made()
        with pytest.raises(ClientStateError, match="the client is closed"):
            await device.client.publish_snapshot()
        assert (device.vault.listeners, host.requests) == ([], [])
