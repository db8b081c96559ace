"""Random uploads, pins, lost pins and garbage collections: pinned data can always be read, and the rest is deleted."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.snapshot_vaults import BOUNDARY, form
from tests.support.soak import amount

from holdfast.content.cars import write_car
from holdfast.content.snapshots import Manifest, snapshot_blocks
from holdfast.rules.pins import PinRequest, PinState
from holdfast.rules.snapshot_quotas import SnapshotLimits, Usage
from holdfast.rules.snapshot_tokens import Bearer
from holdfast.service.operations.snapshot_pins import SnapshotPins
from holdfast.service.operations.snapshot_reading import SnapshotReading
from holdfast.service.operations.snapshot_uploads import SnapshotUploads
from holdfast.service.operations.snapshot_waste import SnapshotWaste
from holdfast.service.snapshots.object_blocks import ObjectBlocks
from holdfast.service.store.kinds import database_of
from holdfast.settings.shared import default_url
from holdfast.wire.failures import SnapshotRefused

pytestmark = pytest.mark.usefixtures("patient_stores")
DIDS = ("did:new:0x" + "11" * 32, "did:new:0x" + "22" * 32)
LIMITS = SnapshotLimits(bytes_per_did=4000, pins_per_did=6, revisions_per_did=4)
SNAPSHOTS = 5

steps = st.lists(
    st.one_of(
        st.tuples(st.just("upload"), st.integers(0, 1), st.integers(0, SNAPSHOTS - 1), st.booleans()),
        st.tuples(st.just("pin"), st.integers(0, 1), st.integers(0, SNAPSHOTS - 1)),
        st.tuples(st.just("replace"), st.integers(0, 1), st.integers(0, 9), st.integers(0, SNAPSHOTS - 1)),
        st.tuples(st.just("unpin"), st.integers(0, 1), st.integers(0, 9)),
        st.tuples(st.just("wait"), st.sampled_from([1, 3601, 90_000])),
        st.tuples(st.just("collect")),
    ),
    max_size=25,
)


class World:
    def __init__(self, folder, url):
        self.now, self.number = 1_800_000_000.0, 0
        self.store = database_of(url).open()
        self.index = self.store.snapshots
        self.blocks = ObjectBlocks(f"file://{folder}/blocks")
        self.folder = folder / "blocks"
        self.waste = SnapshotWaste(self.index, self.blocks, folder / "uploads", lambda: self.now)
        self.uploads = SnapshotUploads(
            waste=self.waste, index=self.index, blocks=self.blocks, spool=folder / "uploads", free_bytes=0, limits=LIMITS,
            clock=lambda: self.now, entropy=self.entropy,
        )  # fmt: skip
        self.pins = SnapshotPins(self.index, LIMITS, lambda: self.now, self.entropy)
        self.reading = SnapshotReading(self.index, self.blocks)

    def entropy(self, size):
        self.number += 1
        return self.number.to_bytes(size)

    def bearer(self, who):
        return Bearer(DIDS[who], self.entropy(32), ("", ""), int(self.now), int(self.now) + 300)

    async def step(self, step):
        try:
            await getattr(self, step[0])(*step[1:])
        except SnapshotRefused as refused:
            assert refused.row.reason in {"INSUFFICIENT_FUNDS", "INVALID_CAR", "BAD_REQUEST", "ANOTHER_DID"}

    async def upload(self, who, which, pin):
        blocks = snapshot(who, which)
        body = form(write_car(blocks[0].cid, blocks))

        async def pieces():
            yield body

        await self.uploads.take(self.bearer(who), BOUNDARY.encode(), pieces(), len(body), pin=pin)

    async def pin(self, who, which):
        await self.pins.add(self.bearer(who), PinRequest(cid=snapshot(who, which)[0].cid))

    async def replace(self, who, index, which):
        known = await self.index.pins(DIDS[who])
        if known:
            pin = known[index % len(known)]
            await self.pins.add(self.bearer(who), PinRequest(cid=snapshot(who, which)[0].cid), pin.request_id)

    async def unpin(self, who, index):
        known = await self.index.pins(DIDS[who])
        if known:
            await self.pins.remove(self.bearer(who), known[index % len(known)].request_id)

    async def wait(self, seconds):
        self.now += seconds

    async def collect(self):
        await self.waste.collect()

    async def check(self):
        for who, did in enumerate(DIDS):
            pins = await self.index.pins(did)
            assert [pin.created_us for pin in pins] == sorted({pin.created_us for pin in pins}, reverse=True)
            usage = await self.index.usage(did)
            assert usage.reserved == 0 and usage.stored <= LIMITS.bytes_per_did
            assert usage.pins <= LIMITS.pins_per_did and usage.revisions <= LIMITS.revisions_per_did
            for pin in pins:
                kept = await self.index.root(pin.request.cid)
                assert (kept is not None) == (pin.state is PinState.PINNED)
                if kept is not None:
                    await self.is_whole(who, pin.request.cid)

    async def is_whole(self, who, cid):
        blocks = next(blocks for blocks in (snapshot(who, n) for n in range(SNAPSHOTS)) if blocks[0].cid == cid)
        for block in blocks:
            assert await self.reading.block(await self.reading.location(block.cid)) == block.data

    async def end(self):
        """Remove every pin, let every waiting period pass, and assert that no data remains."""
        for did in DIDS:
            for pin in await self.index.pins(did):
                await self.index.remove_pin(did, pin.request_id, self.now)
        self.now += 100_000
        await self.collect()
        assert await self.index.totals() == (0, 0, 0) and await self.index.usage(DIDS[0]) == Usage(0, 0, 0, 0)
        assert not self.folder.exists() or list(self.folder.iterdir()) == []
        assert not self.uploads.spool.exists() or list(self.uploads.spool.iterdir()) == []


def snapshot(who, which):
    """Return a snapshot; all snapshots numbered 0 or 1, of either DID, share one raw block."""
    manifest = Manifest(root_cid=None, did=DIDS[who], updated_at=which, wasm_version="0")
    return snapshot_blocks(manifest, bytes([max(1, which)]) * 700)


async def live(folder, url, todo):
    world = World(folder, url)
    try:
        for step in todo:
            await world.step(step)
            await world.check()
        await world.end()
    finally:
        await world.store.close()


@given(steps)
@settings(max_examples=amount(25, 60), deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_pinned_can_be_read_and_nothing_else_stays(todo):
    """On SQLite; store/test_snapshot_contract.py asks both stores."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(live(Path(folder), default_url(Path(folder)), todo))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_collecting_and_uploading_at_the_same_time_lose_nothing(tmp_path, kind, request):
    """An upload must never reuse a stored block that garbage collection is about to delete."""
    url = default_url(tmp_path) if kind == "sqlite" else request.getfixturevalue("postgres_url")
    world = World(tmp_path, url)
    try:
        for _ in range(30 if kind == "sqlite" else 10):
            await world.upload(0, 2, pin=True)
            (pin,) = await world.index.pins(DIDS[0])
            await world.pins.remove(world.bearer(0), pin.request_id)
            await asyncio.gather(world.collect(), world.upload(0, 2, pin=True), world.collect())
            await world.check()
            (pin,) = await world.index.pins(DIDS[0])
            await world.pins.remove(world.bearer(0), pin.request_id)
    finally:
        await world.store.close()
