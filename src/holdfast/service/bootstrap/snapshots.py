"""Builds the snapshot operations and chooses where their blocks are stored."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from holdfast.service.bootstrap.naming import named_setting
from holdfast.service.operations.reading_rate import ReadingRate
from holdfast.service.operations.snapshot_access import SnapshotAccess
from holdfast.service.operations.snapshot_names import SnapshotNames
from holdfast.service.operations.snapshot_pins import SnapshotPins
from holdfast.service.operations.snapshot_reading import SnapshotReading
from holdfast.service.operations.snapshot_uploads import SnapshotUploads
from holdfast.service.operations.snapshot_waste import SnapshotWaste, Strays
from holdfast.service.operations.snapshots import Snapshots
from holdfast.service.snapshots.delegate import delegate_of
from holdfast.service.snapshots.object_blocks import ObjectBlocks

if TYPE_CHECKING:
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.port import Store

_log = logging.getLogger("holdfast.start")
BLOCKS_STAY_HERE = (
    "snapshots: their blocks lie in a folder of this machine, while the database is PostgreSQL; before a second node is"
    " started, set HOLDFAST_SNAPSHOTS_URL on every node to one bucket, or to one folder that all nodes share"
)
SPOOL = "uploads"  # a folder in the data folder


def snapshots_of(
    settings: Settings, secrets: Secrets, store: Store, clock: Clock, entropy: Entropy
) -> Snapshots | None:
    """Return the snapshot operations; None if snapshots are disabled. Raises SettingError."""
    if settings.snapshots == "off":
        return None
    if settings.blocks_stay_here:
        _log.warning(BLOCKS_STAY_HERE)
    index = store.snapshots
    blocks = named_setting("HOLDFAST_SNAPSHOTS_URL", ObjectBlocks, settings.snapshots_url)
    limits, spool = settings.snapshot_limits, settings.data_dir / SPOOL
    return Snapshots(
        index=index,
        blocks=blocks,
        access=snapshot_access(settings, store, clock),
        uploads=SnapshotUploads(
            index=index,
            blocks=blocks,
            spool=spool,
            waste=SnapshotWaste(index, blocks, spool, clock),
            free_bytes=settings.snapshots_free_bytes,
            limits=limits,
            clock=clock,
            entropy=entropy,
        ),
        pins=SnapshotPins(index, limits, clock, entropy),
        reading=SnapshotReading(index, blocks),
        names=SnapshotNames(index, clock),
        strays=Strays(index, blocks, clock),
        reads=ReadingRate(settings.snapshots_reads_per_address_minute, clock),
        delegate=delegate_of(settings.public_url, secrets.peer_key),
    )


def snapshot_access(settings: Settings, store: Store, clock: Clock) -> SnapshotAccess:
    """Return what checks the tokens of requests that a vault's key signs."""
    return SnapshotAccess(
        store,
        store.snapshots,
        settings.registrar_did,
        settings.snapshots_uploads_per_address_hour,
        ReadingRate(settings.snapshots_refusals_per_address_minute, clock),
        clock,
    )
