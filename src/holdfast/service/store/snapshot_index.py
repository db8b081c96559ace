"""The SnapshotIndex port: data about stored snapshots. The blocks themselves are in object storage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.rules.pins import Pin, PinRequest
    from holdfast.rules.snapshot_quotas import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUse:
    """One use of a token. A token permits one request of each kind, and repeats of that request.

    Attributes:
        token: digest of the token.
        kind: what is created: `import`, `pin`, `replace`.
        what: identifies what is created.
        until: when the token expires, in seconds since the epoch.
    """

    token: bytes
    kind: str
    what: str
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUpload:
    """A new upload, whose reservation of space expires at `expires_at`, in seconds since the epoch."""

    upload_id: str
    did: str
    now: float
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRoot:
    """A snapshot whose blocks are stored: its root, then the blocks that the root links to, in order.

    Attributes:
        size: total bytes of its distinct blocks.
        publisher: IPNS name of the key to which the manifest delegates, or None.
        pin: the request ID of the pin to create at once; None to create no pin.
        held_until: the time until which the snapshot is stored without a pin.
    """

    cid: str
    did: str
    blocks: Sequence[str]
    size: int
    publisher: str | None
    pin: str | None
    held_until: float
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPin:
    """A pin to be written. If `replaces` is given, the new pin replaces the pin with that ID."""

    request_id: str
    did: str
    request: PinRequest
    now: float
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class BlockLocation:
    """Where a block is stored: the name of its object, and the block's size in bytes."""

    cid: str
    key: str
    size: int


@dataclass(frozen=True, slots=True)
class StoredRoot:
    """A stored snapshot with the places of its blocks: first the root, then the other blocks in the root's order."""

    cid: str
    did: str
    blocks: tuple[BlockLocation, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """A verified IPNS record to be stored.

    Attributes:
        validity_ns: when it expires, in nanoseconds since the epoch.
        ttl_ns: how long it may be cached, in nanoseconds.
    """

    name: str
    root: str
    sequence: int
    validity_ns: int
    ttl_ns: int
    data: bytes
    now: float


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """The record stored under a name, and the DID that owns the name."""

    did: str
    root: str
    sequence: int
    validity_ns: int
    ttl_ns: int
    data: bytes


class SnapshotIndex(Protocol):
    """The index of stored snapshots. Every method is one atomic step, durable on return; it may raise StoreUnavailable.

    A rule that is passed as an argument is called with the facts of the same step. If the rule refuses, nothing
    changes.

    Attributes:
        lists_objects: whether `objects` and `name_strays` are supported; if not, they find nothing.
    """

    lists_objects: bool

    async def is_registered(self, did: str) -> bool:
        """Return whether the DID has a registered credential that the chain has not refused."""
        ...

    async def is_confirmed(self, did: str) -> bool:
        """Return whether the DID has a registered credential that the chain has confirmed."""
        ...

    async def is_revoked(self, did: str, cids: Sequence[str], issued_at: float) -> bool:
        """Return whether a token issued at `issued_at` was revoked, by CID or with all tokens of the DID."""
        ...

    async def revoke(self, did: str, cid: str | None, now: float, until: float) -> None:
        """Record that a token is revoked, or all tokens up to `now` if `cid` is None; keep the record until `until`."""
        ...

    async def usage(self, did: str) -> Usage:
        """Return how much the DID stores."""
        ...

    async def begin_upload(self, upload: NewUpload, decide: Callable[[Usage], int]) -> int:
        """Reserve as many bytes as `decide` returns, and return that number."""
        ...

    async def insert_blocks(self, did: str, upload_id: str, blocks: Sequence[tuple[str, int]]) -> list[BlockLocation]:
        """Return where to store these distinct blocks (CID, size).

        The upload protects the blocks from garbage collection.
        """
        ...

    async def finish_upload(
        self,
        upload_id: str,
        root: NewRoot,
        use: TokenUse,
        decide: Callable[[Usage], None],
        admit: Callable[[Usage], None],
    ) -> None:
        """Record a snapshot whose blocks are stored, and end the upload.

        `decide` is called if the snapshot is new here, `admit` if its pin is new. The snapshot's queued pins become
        pinned. Raises SnapshotRefused.
        """
        ...

    async def end_upload(self, did: str, upload_id: str) -> None:
        """Release an upload's reservation; blocks that only this upload placed become garbage.

        A second call changes nothing.
        """
        ...

    async def add_pin(self, pin: NewPin, use: TokenUse, admit: Callable[[Usage], None]) -> Pin | None:
        """Write a pin, and remove the one that it replaces; None if that one does not exist. Raises SnapshotRefused.

        If an import has pinned the snapshot, the first pin for it replaces the import's pin.
        """
        ...

    async def remove_pin(self, did: str, request_id: str, now: float) -> bool:
        """Remove a pin; False if the DID has none with this ID. A snapshot without pins is no longer stored."""
        ...

    async def pin(self, did: str, request_id: str) -> Pin | None:
        """Return one of a DID's pins."""
        ...

    async def pins(self, did: str) -> list[Pin]:
        """Return all pins of a DID, newest first."""
        ...

    async def publisher(self, did: str) -> str | None:
        """Return the IPNS name to which the DID's newest pinned snapshot delegates, as of its upload, or None."""
        ...

    async def block(self, cid: str) -> BlockLocation | None:
        """Return the location of a block that belongs to a stored snapshot."""
        ...

    async def root(self, cid: str) -> StoredRoot | None:
        """Return a stored snapshot."""
        ...

    async def publish(self, record: NewRecord, decide: Callable[[StoredRecord | None], bool]) -> bool:
        """Store a record if `decide` agrees; False if the name's key may not publish this snapshot.

        The key may publish the snapshot if it is pinned here, its manifest delegates to the key, and the name does not
        belong to another DID.
        """
        ...

    async def record(self, name: str) -> StoredRecord | None:
        """Return the record stored under a name."""
        ...

    async def expire(self, now: float) -> int:
        """Remove expired uploads, tokens, revocations and unneeded snapshots; mark pins queued for too long as failed.

        A DID's snapshots, pins and record are unneeded when the DID has had no registered credential for 30 days.
        Return how many rows were removed.
        """
        ...

    async def garbage(self, limit: int) -> list[str]:
        """Return the names of objects that may be deleted, because no snapshot needs them and their rows are gone."""
        ...

    async def objects(self, after: int, limit: int) -> list[tuple[int, str, str]]:
        """Return objects that stored snapshots need: number, name, and the DID of one snapshot; ordered by number."""
        ...

    async def name_strays(self, objects: Sequence[str]) -> int:
        """Of these objects, mark those that have no row as garbage; return how many were marked.

        Objects lack a row if an older database was restored. No new object gets the number of one of these objects.
        """
        ...

    async def collected(self, keys: Sequence[str]) -> None:
        """Record that these objects were deleted."""
        ...

    async def totals(self) -> tuple[int, int, int]:
        """Return the number of snapshots, of pins and of bytes in blocks, for all DIDs together."""
        ...
