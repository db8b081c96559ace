"""Limits on how much a DID may store, and on how much of that an upload may reserve.

An unconfirmed DID may store snapshots, because the first copy is part of a registration, but little, so that strangers
cannot fill the storage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.rules.limits import DAY_S, REFUSED_RETENTION_S
from holdfast.wire.failures import INSUFFICIENT_FUNDS, SnapshotRefused

_MIB = 1024 * 1024
SNAPSHOT_BYTES_PER_DID = 256 * _MIB
SNAPSHOT_BYTES_UNCONFIRMED = 36 * _MIB  # the largest snapshot and the one that follows it
SNAPSHOT_PINS_PER_DID = 100
SNAPSHOT_REVISIONS_PER_DID = 64
SNAPSHOT_UPLOADS_PER_ADDRESS_HOUR = 240
SNAPSHOT_READS_PER_ADDRESS_MINUTE = 3000
SNAPSHOT_REFUSALS_PER_ADDRESS_MINUTE = 120  # of tokens
SNAPSHOT_FREE_BYTES = 256 * _MIB
UPLOAD_TIMEOUT_S = 300.0
UPLOAD_RETENTION_S = 900.0  # then a reservation expires, for example because its process was killed
UNPINNED_RETENTION_S = 3600.0  # a snapshot uploaded with pin-roots=false waits this long for a pin
ORPHANS_RETENTION_S = REFUSED_RETENTION_S  # then the snapshots of a DID without a registered credential are removed
QUEUED_RETENTION_S = 24 * 3600.0  # then a pin whose snapshot never arrived fails
FAILED_RETENTION_S = QUEUED_RETENTION_S + 7 * DAY_S  # then it is removed


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    """The limits that apply to each DID.

    Attributes:
        bytes_per_did: total bytes of its snapshots' blocks and of its uploads in progress.
        pins_per_did: pins in every state but failed.
        revisions_per_did: different snapshots.
        bytes_unconfirmed: replaces `bytes_per_did`, if smaller, until the chain has confirmed a registration.
    """

    bytes_per_did: int = SNAPSHOT_BYTES_PER_DID
    pins_per_did: int = SNAPSHOT_PINS_PER_DID
    revisions_per_did: int = SNAPSHOT_REVISIONS_PER_DID
    bytes_unconfirmed: int = SNAPSHOT_BYTES_UNCONFIRMED

    def of(self, *, confirmed: bool) -> SnapshotLimits:
        """Return the limits for one DID."""
        return self if confirmed else replace(self, bytes_per_did=min(self.bytes_per_did, self.bytes_unconfirmed))


@dataclass(frozen=True, slots=True)
class Usage:
    """What a DID has at one moment: stored bytes, bytes reserved by other uploads, and how many pins and snapshots."""

    stored: int
    reserved: int
    pins: int
    revisions: int


def reservation(usage: Usage, limits: SnapshotLimits, wanted: int, *, declared: bool) -> int:
    """Return how many bytes to reserve for an upload, which it must not exceed.

    Raises SnapshotRefused(INSUFFICIENT_FUNDS). If the upload's length was `declared`, `wanted` is that length, and all
    of it must be free. Without a declared length, `wanted` is the maximum length of an upload, and as much of it as is
    free is reserved.
    """
    free = limits.bytes_per_did - usage.stored - usage.reserved
    if free <= 0 or (declared and wanted > free):
        raise _over(
            f"{usage.stored} bytes are kept and {usage.reserved} reserved by uploads, of {limits.bytes_per_did}"
        )
    return min(wanted, free)


def admit_root(usage: Usage, limits: SnapshotLimits, size: int) -> None:
    """Refuse a new snapshot of `size` bytes if the DID has no space left for it. Raises SnapshotRefused."""
    if usage.stored + usage.reserved + size > limits.bytes_per_did:
        raise _over(f"{usage.stored} bytes are kept, the snapshot has {size}, {limits.bytes_per_did} are allowed")
    if usage.revisions >= limits.revisions_per_did:
        raise _over(f"{usage.revisions} snapshots are kept, {limits.revisions_per_did} are allowed")


def admit_pin(usage: Usage, limits: SnapshotLimits) -> None:
    """Refuse a new pin if the DID already has the maximum number. Raises SnapshotRefused."""
    if usage.pins >= limits.pins_per_did:
        raise _over(f"{usage.pins} pins are kept, {limits.pins_per_did} are allowed")


def _over(details: str) -> SnapshotRefused:
    return SnapshotRefused(INSUFFICIENT_FUNDS, f"{details}; delete older pins")
