"""The SnapshotIndex port: what is known about kept snapshots. The blocks themselves lie in object storage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.rules.pins import AskedPin, Pin
    from holdfast.rules.snapshot_quotas import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUse:
    """One use of a token: it may create one thing of each kind, and the same thing again.

    Attributes:
        token: digest of the token.
        kind: what is created: `import`, `pin`, `replace`.
        what: names the thing that is created.
        until: seconds since the epoch after which the token is refused anyway.
    """

    token: bytes
    kind: str
    what: str
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUpload:
    """An upload that begins. Its reservation ends by itself at `expires_at`, in seconds since the epoch."""

    upload_id: str
    did: str
    now: float
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRoot:
    """A snapshot whose blocks are stored: its root, then what the root links to, in the root's order.

    Attributes:
        size: bytes of its blocks, each counted once.
        publisher: IPNS name of the key that the manifest delegates to, or None.
        pin: whether it is pinned at once, and the request ID that such a pin would have.
        held_until: until when it is kept without a pin.
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
    """A pin to be written, in place of `replaces` where that is named."""

    request_id: str
    did: str
    asked: AskedPin
    now: float
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """Where a block lies: the name of its object, and how many bytes it has."""

    cid: str
    key: str
    size: int


@dataclass(frozen=True, slots=True)
class KeptRoot:
    """A kept snapshot, with the places of its blocks in the root's order, the root first."""

    cid: str
    did: str
    blocks: tuple[BlockPlace, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """A verified IPNS record to be kept: `validity_ns` in nanoseconds since the epoch."""

    name: str
    root: str
    sequence: int
    validity_ns: int
    data: bytes
    now: float


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """The record that is kept under a name, and the DID whose name it is."""

    did: str
    root: str
    sequence: int
    validity_ns: int
    data: bytes


class SnapshotIndex(Protocol):
    """Every method is one atomic step, durable when it returns, and raises StoreUnavailable.

    A rule that is passed in is called with the facts of that very step and may refuse, which changes nothing.

    Attributes:
        lists_objects: whether `objects` and `name_strays` work; where they do not, both find nothing.
    """

    lists_objects: bool

    async def is_registered(self, did: str) -> bool:
        """Whether a credential is registered for the DID that the chain has not refused."""
        ...

    async def is_revoked(self, did: str, cids: Sequence[str], issued_at: float) -> bool:
        """Whether a token with one of these CIDs, or every token of the DID up to `issued_at`, was revoked."""
        ...

    async def revoke(self, did: str, cid: str | None, now: float, until: float) -> None:
        """Remember until `until` that a token, or with None every token issued up to `now`, holds no longer."""
        ...

    async def usage(self, did: str) -> Usage:
        """What the DID keeps."""
        ...

    async def begin_upload(self, upload: NewUpload, decide: Callable[[Usage], int]) -> int:
        """Reserve as many bytes as `decide` says, which are returned."""
        ...

    async def place_blocks(self, did: str, upload_id: str, blocks: Sequence[tuple[str, int]]) -> list[BlockPlace]:
        """Where these different blocks (CID, size) are to be stored; the upload keeps them from being collected."""
        ...

    async def finish_upload(
        self,
        upload_id: str,
        root: NewRoot,
        use: TokenUse,
        decide: Callable[[Usage], None],
        admit: Callable[[Usage], None],
    ) -> None:
        """Keep a snapshot whose blocks are stored, and end the upload.

        `decide` is asked about a snapshot that is new here, `admit` about a pin that is. Pins that waited for it
        become pinned. Raises SnapshotRefused.
        """
        ...

    async def end_upload(self, did: str, upload_id: str) -> None:
        """Give the reservation back; blocks that only it placed will be collected. A second time changes nothing."""
        ...

    async def add_pin(self, pin: NewPin, use: TokenUse, admit: Callable[[Usage], None]) -> Pin | None:
        """Write a pin, in place of another's; None where that other does not exist. Raises SnapshotRefused.

        The first pin of a snapshot that an import pinned takes the import's place.
        """
        ...

    async def remove_pin(self, did: str, request_id: str, now: float) -> bool:
        """Take a pin away; False when the DID has none of this ID. A snapshot without pins is kept no longer."""
        ...

    async def pin(self, did: str, request_id: str) -> Pin | None:
        """One pin of a DID."""
        ...

    async def pins(self, did: str) -> list[Pin]:
        """Every pin of a DID, newest first."""
        ...

    async def block(self, cid: str) -> BlockPlace | None:
        """Where a block of a kept snapshot lies."""
        ...

    async def root(self, cid: str) -> KeptRoot | None:
        """A kept snapshot."""
        ...

    async def publish(self, record: NewRecord, decide: Callable[[KeptRecord | None], bool]) -> bool:
        """Keep a record if `decide` says so; False where the name's key may not name this snapshot.

        It may where the snapshot is pinned here, its manifest delegates to the name's key, and the name is not another
        DID's.
        """
        ...

    async def record(self, name: str) -> KeptRecord | None:
        """The record kept under a name."""
        ...

    async def expire(self, now: float) -> int:
        """End old uploads, tokens and revocations; queued pins fail; drop snapshots that nothing holds. How many."""
        ...

    async def garbage(self, limit: int) -> list[str]:
        """Names of objects that no snapshot needs: their rows are gone, so the objects may be deleted."""
        ...

    async def objects(self, after: int, limit: int) -> list[tuple[int, str, str]]:
        """Objects that kept snapshots need: number, name, and the DID of one of those; in the order of numbers."""
        ...

    async def name_strays(self, objects: Sequence[str]) -> int:
        """Of these objects, name as garbage those that no row knows; how many.

        They are left over where an older database was restored. No new object gets the number of a listed one.
        """
        ...

    async def collected(self, keys: Sequence[str]) -> None:
        """These objects are deleted."""
        ...

    async def totals(self) -> tuple[int, int, int]:
        """Snapshots, pins and bytes of blocks, of all DIDs."""
        ...
