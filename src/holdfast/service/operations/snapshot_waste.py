"""What kept snapshots leave behind is removed: regularly, and at once where storage is full."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.snapshot_quotas import UPLOAD_KEPT_S

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.service.clock import Clock
    from holdfast.service.snapshots.port import BlockStorage
    from holdfast.service.store.snapshot_index import SnapshotIndex

_AT_ONCE = 256
_MAX_TURNS = 100


@dataclass(frozen=True, slots=True)
class SnapshotWaste:
    """Several processes may collect at the same time: an object's name is never used again."""

    index: SnapshotIndex
    blocks: BlockStorage
    spool: Path
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
        return {"removed": removed, "deleted": deleted}

    async def sweep(self) -> None:
        """Remove what killed uploads left in this machine's folder."""
        await asyncio.to_thread(_sweep, self.spool)


def _sweep(spool: Path) -> None:
    """Remove what uploads left behind whose process was killed."""
    if spool.is_dir():
        for file in spool.glob("*.car"):
            with suppress(FileNotFoundError):  # its upload has ended meanwhile, or another process removed it
                if time.time() - file.stat().st_mtime > UPLOAD_KEPT_S:
                    file.unlink()
