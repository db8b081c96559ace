"""All operations on the snapshots that the service stores, and their regular maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.service.snapshots.port import BlocksUnavailable

if TYPE_CHECKING:
    from holdfast.service.operations.reading_rate import ReadingRate
    from holdfast.service.operations.snapshot_access import SnapshotAccess
    from holdfast.service.operations.snapshot_names import SnapshotNames
    from holdfast.service.operations.snapshot_pins import SnapshotPins
    from holdfast.service.operations.snapshot_reading import SnapshotReading
    from holdfast.service.operations.snapshot_uploads import SnapshotUploads
    from holdfast.service.operations.snapshot_waste import Strays
    from holdfast.service.snapshots.port import BlockStorage
    from holdfast.service.store.snapshot_index import SnapshotIndex


_AT_ONCE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshots:
    """The operations behind the snapshot endpoints.

    Attributes:
        delegate: this service's multiaddr, which pins list as their delegate.
    """

    index: SnapshotIndex
    blocks: BlockStorage
    access: SnapshotAccess
    uploads: SnapshotUploads
    pins: SnapshotPins
    reading: SnapshotReading
    names: SnapshotNames
    reads: ReadingRate
    strays: Strays
    delegate: str

    async def collect(self) -> dict[str, int]:
        """Remove expired rows and blocks that no snapshot needs; return how many rows and objects were deleted."""
        try:
            strays = await self.strays.name()
        except BlocksUnavailable:  # its credentials may not allow a listing
            await self.uploads.waste.collect()
            raise
        return {**await self.uploads.waste.collect(), "strays": strays}

    async def missing(self) -> tuple[int, int]:
        """Return how many objects of stored snapshots are missing from storage, and how many DIDs are affected."""
        if not self.index.lists_objects:
            return 0, 0
        there = {name async for part in self.blocks.names() for name in part}
        gone, dids, after = 0, set[str](), 0
        while rows := await self.index.objects(after, _AT_ONCE):
            lost = [did for _, name, did in rows if name not in there]
            gone, after = gone + len(lost), rows[-1][0]
            dids.update(lost)
        return gone, len(dids)

    async def name_of(self, did: str) -> str | None:
        """Return the IPNS name that a DID's newest pinned snapshot delegates to; None if none exists."""
        return await self.index.publisher(did)
