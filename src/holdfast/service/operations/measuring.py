"""Measurements of the store and the disk, taken every 15 seconds while metrics are enabled."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.service.telemetry import metrics

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.service.clock import Clock
    from holdfast.service.store.port import Store
    from holdfast.service.store.values import StoreGauges

MEASURE_EVERY_S = 15.0
_STATES = ("sync", "quorum", "potential", "async", "unknown")


@dataclass(frozen=True, slots=True)
class Measuring:
    """Sets the gauges for the store, stored snapshots and the disk."""

    store: Store
    data_dir: Path
    clock: Clock

    async def measure(self) -> None:
        """Take all measurements. Raises StoreUnavailable."""
        free = (await asyncio.to_thread(shutil.disk_usage, self.data_dir)).free
        metrics.DISK_FREE.set(free)
        _show(await self.store.gauges(self.clock()))
        if self.store.snapshots is not None:
            snapshots, pins, size = await self.store.snapshots.totals()
            metrics.SNAPSHOTS.set(snapshots)
            metrics.SNAPSHOT_PINS.set(pins)
            metrics.SNAPSHOT_BYTES.set(size)


def _show(gauges: StoreGauges) -> None:
    metrics.CONFIRMATIONS_PENDING.set(gauges.pending)
    metrics.CONFIRMATIONS_OVERDUE.set(gauges.overdue_s)
    metrics.EVENTS_WAITING.set(gauges.events)
    metrics.EVENTS_OLDEST.set(gauges.oldest_event_s)
    if gauges.clock_offset_s is not None:
        metrics.CLOCK_OFFSET.set(gauges.clock_offset_s)
    if gauges.standbys is not None:
        metrics.STANDBY_REQUIRED.set(float(gauges.standby_required))
        for state in _STATES:
            metrics.STANDBYS.set(gauges.standbys.get(state, 0), state)
