"""Kept snapshots: the operations together, and what is done regularly for them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.snapshot_quotas import UPLOAD_KEPT_S

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.service.clock import Clock
    from holdfast.service.operations.snapshot_access import SnapshotAccess
    from holdfast.service.operations.snapshot_names import SnapshotNames
    from holdfast.service.operations.snapshot_pins import SnapshotPins
    from holdfast.service.operations.snapshot_reading import SnapshotReading
    from holdfast.service.operations.snapshot_uploads import SnapshotUploads
    from holdfast.service.snapshots.port import BlockStorage
    from holdfast.service.store.snapshot_index import SnapshotIndex

_AT_ONCE = 256
_MAX_TURNS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshots:
    """What the paths of kept snapshots reach.

    Attributes:
        delegate: the multiaddr that pins name: this service.
    """

    index: SnapshotIndex
    blocks: BlockStorage
    access: SnapshotAccess
    uploads: SnapshotUploads
    pins: SnapshotPins
    reading: SnapshotReading
    names: SnapshotNames
    delegate: str
    clock: Clock

    async def collect(self) -> dict[str, int]:
        """End what is over, and delete the blocks that no snapshot needs; how many rows and objects went."""
        removed = await self.index.expire(self.clock())
        deleted = 0
        for _ in range(_MAX_TURNS):
            keys = await self.index.garbage(_AT_ONCE)
            if not keys:
                break
            await self.blocks.delete(keys)
            await self.index.collected(keys)
            deleted += len(keys)
        await asyncio.to_thread(_sweep, self.uploads.spool)
        return {"removed": removed, "deleted": deleted}


def _sweep(spool: Path) -> None:
    """Remove what uploads left behind whose process was killed."""
    if spool.is_dir():
        for file in spool.glob("*.car"):
            if time.time() - file.stat().st_mtime > UPLOAD_KEPT_S:
                file.unlink(missing_ok=True)
