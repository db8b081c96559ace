"""Removes blocks and files that no snapshot needs: regularly, and immediately when the storage is full."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.rules.snapshot_quotas import UPLOAD_RETENTION_S
from holdfast.service.snapshots.port import BlocksUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from holdfast.service.clock import Clock
    from holdfast.service.snapshots.port import BlockStorage
    from holdfast.service.store.snapshot_index import SnapshotIndex

_AT_ONCE = 256
_MAX_TURNS = 100
_STRAYS_EVERY_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class SnapshotWaste:
    """Removes what no snapshot needs. Several processes may run this at once, because object names are never reused."""

    index: SnapshotIndex
    blocks: BlockStorage
    spool: Path
    clock: Clock
    _put_off: set[str] = field(default_factory=set, init=False)  # what was not deleted until others are

    async def collect(self) -> dict[str, int]:
        """Remove expired rows and blocks that no snapshot needs; return how many rows and objects were deleted.

        Raises BlocksUnavailable for an object that cannot be deleted; the next call begins with the others.
        """
        removed = await self.index.expire(self.clock())
        deleted = 0
        for _ in range(_MAX_TURNS):
            found = await self.index.garbage(_AT_ONCE + len(self._put_off))
            keys = [key for key in found if key not in self._put_off]
            if not keys:
                self._put_off.clear()
                break
            await self._delete(keys)
            deleted += len(keys)
        return {"removed": removed, "deleted": deleted}

    async def _delete(self, keys: Sequence[str]) -> None:
        done = list[str]()
        try:
            for key in keys:
                await self.blocks.delete([key])
                done.append(key)
        except BlocksUnavailable:
            self._put_off.add(keys[len(done)])
            raise
        finally:
            await self.index.collected(done)

    async def sweep(self) -> None:
        """Remove the files that interrupted uploads left in this machine's spool folder."""
        await asyncio.to_thread(_sweep, self.spool)


@dataclass(slots=True)
class Strays:
    """Looks for stored objects without a row in the index, once after startup and then daily, because listing is slow.

    Objects lack a row if the database was restored from a backup that is older than the storage.
    """

    index: SnapshotIndex
    blocks: BlockStorage
    clock: Clock
    _next: float = 0.0

    async def name(self) -> int:
        """Mark these objects as garbage, which the next collection deletes; return how many objects were marked."""
        if self.clock() < self._next or not self.index.lists_objects:
            return 0
        found = 0
        async for part in self.blocks.names():
            found += await self.index.name_strays(part)
        self._next = self.clock() + _STRAYS_EVERY_S
        return found


def _sweep(spool: Path) -> None:
    """Remove the files that uploads of killed processes left behind."""
    if spool.is_dir():
        for file in spool.glob("*.car"):
            with suppress(FileNotFoundError):  # its upload has ended in the meantime, or another process removed it
                if time.time() - file.stat().st_mtime > UPLOAD_RETENTION_S:
                    file.unlink()
