"""Random sequences of edits on several devices, with lost requests and a gateway that returns false data.

Acknowledged snapshots are recovered whole.
"""

import asyncio
import contextlib
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.client.snapshots.devices import SECRET, Device
from tests.client.snapshots.fake_host import FakeHost
from tests.support.soak import amount

from holdfast.client import types
from holdfast.client.snapshots.publishing import SnapshotConflict
from holdfast.content.cids import raw_block
from holdfast.wire.client_errors import ServiceError

LOSSES = ("POST /api/v0/dag/import", "POST /pins", "GET /pins", "PUT /routing", "GET /ipns", "GET /routing")
STEP = st.one_of(
    st.tuples(st.just("edit"), st.integers(0, 1)),
    st.tuples(st.just("publish"), st.integers(0, 1)),
    st.tuples(st.just("lose the answer to"), st.sampled_from(LOSSES)),
    st.tuples(st.just("lose requests"), st.integers(1, 6)),
    st.tuples(st.just("kill"), st.integers(0, 1)),
    st.tuples(st.just("choose here"), st.integers(0, 1)),
    st.tuples(st.just("choose there"), st.integers(0, 1)),
)


class Lives:
    """Two devices of one person, and the last snapshot that was acknowledged to either device."""

    def __init__(self, folder):
        self.folder, self.host, self.acknowledged, self.edits = Path(folder), FakeHost(), None, 0
        self.stack, self.devices = contextlib.AsyncExitStack(), []

    async def begin(self):
        first = await self.opened(0)
        self.devices = [first]
        await first.made()
        await self.step("publish", 0)
        self.name = await first.name()
        second = await self.opened(1)
        await second.client.recover(key=SECRET, name=self.name)
        self.devices.append(second)

    async def opened(self, number):
        return await self.stack.enter_async_context(Device(self.folder / str(number), self.host))

    async def step(self, kind, given):
        if kind == "lose the answer to":
            self.host.lost_answers_to.add(given)
        elif kind == "lose requests":
            self.host.lost_requests = given
        elif kind == "edit":
            self.edits += 1
            await self.devices[given].change(str(self.edits))
        elif kind == "kill":
            await self.killed(given)
        else:
            await self.publish(kind, self.devices[given])

    async def killed(self, number):
        """Close the device and open it again, so that only what it has stored remains."""
        device = self.devices[number]
        await device.__aexit__()
        self.devices[number] = await self.opened(number)
        await self.devices[number].vault.unlock(SECRET)

    async def publish(self, kind, device):
        try:
            if kind == "publish":
                state = await device.client.publish_snapshot()
            else:
                state = await device.client.choose_snapshot(kind.split()[1], SECRET)
        except (SnapshotConflict, ServiceError):
            return
        assert state.status == "pinned"
        self.acknowledged = device.store.load().sealed
        assert state.acknowledged_revision == device.store.load().revision

    async def recovered(self):
        self.host.lost_requests, self.host.lost_answers_to = 0, set()
        self.host.liars = {"liar.example"}
        config = types.SnapshotConfig(automatic=False, gateway_urls=("https://liar.example",), upload_url=None)
        new = await self.stack.enter_async_context(Device(self.folder / "new", self.host, config))
        await new.client.recover(key=SECRET, name=self.name)
        return new.store.load().sealed


async def live(steps):
    with tempfile.TemporaryDirectory() as folder:
        lives = Lives(folder)
        async with lives.stack:
            await lives.begin()
            for step in steps:
                await lives.step(*step)
            found = await lives.recovered()
            # A snapshot whose acknowledgement was lost is nevertheless published, so it may be the one that is
            # recovered.
            published = {lives.acknowledged} | {
                revision.sealed for device in lives.devices for revision in revisions(device) if named(lives, revision)
            }
            assert found in published
            if not any(kind.startswith("lose") for kind, _ in steps):
                assert found == lives.acknowledged


def revisions(device):
    (did,) = device.store.dids()
    return [device.store.load(did, revision) for revision in device.store.revisions(did)]


def named(lives, revision):
    return raw_block(revision.sealed).cid in lives.host.blocks


@settings(max_examples=amount(6, 50), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEP, max_size=12))
def test_what_was_acknowledged_comes_back(steps):
    asyncio.run(live(steps))
