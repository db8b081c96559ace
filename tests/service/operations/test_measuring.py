"""The measurements are written to the gauges that the alerts use."""

from holdfast.service.operations.measuring import Measuring
from holdfast.service.store.values import StoreGauges
from holdfast.service.telemetry import metrics


class WatchedStore:
    """A fake store with the methods that Measuring calls."""

    def __init__(self, gauges):
        self._gauges = gauges
        self.snapshots = self

    async def gauges(self, _now):
        return self._gauges

    async def totals(self):
        return 3, 4, 500


async def test_standbys_clock_disk_and_snapshots_become_gauges(tmp_path):
    metrics.reset()
    gauges = StoreGauges(
        pending=7, overdue_s=30.0, standbys={"sync": 1, "async": 2}, standby_required=True, clock_offset_s=-0.25
    )
    await Measuring(WatchedStore(gauges), tmp_path, lambda: 0.0).measure()
    assert metrics.CONFIRMATIONS_PENDING.cells[()] == 7 and metrics.CONFIRMATIONS_OVERDUE.cells[()] == 30
    assert metrics.STANDBY_REQUIRED.cells[()] == 1 and metrics.CLOCK_OFFSET.cells[()] == -0.25
    assert metrics.STANDBYS.cells == {
        ("sync",): 1, ("quorum",): 0, ("potential",): 0, ("async",): 2, ("unknown",): 0,
    }  # fmt: skip
    assert metrics.DISK_FREE.cells[()] > 0
    assert [gauge.cells[()] for gauge in (metrics.SNAPSHOTS, metrics.SNAPSHOT_PINS, metrics.SNAPSHOT_BYTES)] == [
        3, 4, 500,
    ]  # fmt: skip
    metrics.reset()
    metrics.reset()
    await Measuring(WatchedStore(StoreGauges(pending=0, overdue_s=0)), tmp_path, lambda: 0.0).measure()
    assert metrics.STANDBYS.cells == {} and metrics.CLOCK_OFFSET.cells == {}, "an embedded store has none"
    metrics.reset()
