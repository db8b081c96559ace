"""Snapshots: a sealed vault, split into blocks to which a root block links (docs/formats.md)."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from holdfast.client.types import VaultManifest
from holdfast.content import cars
from holdfast.content import snapshots as roots
from holdfast.content.cids import Block, codec_of
from holdfast.content.errors import ContentError
from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One vault at one moment. `manifest.root_cid` is the previous snapshot, None for the first.

    `delegation`: from the vault's key to the publishing key, to publish snapshots; None without a publishing key.
    """

    root_cid: str
    manifest: VaultManifest
    sealed: bytes
    blocks: tuple[Block, ...]
    delegation: bytes | None = None

    def to_car(self) -> bytes:
        """Return the snapshot as a CARv1 file, root first."""
        return cars.write_car(self.root_cid, self.blocks)

    @property
    def following_manifest(self) -> VaultManifest:
        """Return the vault's manifest, changed to name this snapshot as the newest."""
        return msgspec.structs.replace(self.manifest, root_cid=self.root_cid)


def take(manifest: VaultManifest, sealed: bytes, delegation: bytes | None = None) -> Snapshot:
    """Make a snapshot of a sealed vault. Raises StorageError for an empty vault or one over 16 MiB."""
    named = roots.Manifest(
        root_cid=manifest.root_cid,
        did=manifest.did,
        updated_at=manifest.updated_at,
        wasm_version=manifest.wasm_version,
        delegation=delegation,
    )
    with storage_errors():
        blocks = {block.cid: block for block in roots.snapshot_blocks(named, sealed)}
    root_cid = next(iter(blocks))
    return Snapshot(root_cid, manifest, sealed, tuple(blocks.values()), delegation)


def from_car(data: bytes) -> Snapshot:
    """Return the snapshot in a CARv1 file. Blocks that do not belong to it are ignored.

    Gateways may write a header that names no root or several: then it is the file's only snapshot, or the newest if it
    leads to all others. Raises StorageError for a block that does not match its CID, or that is missing.
    """
    with storage_errors():
        root_cid, blocks = cars.read_car_of_any_roots(data)
        root = _newest_of(blocks) if root_cid is None else roots.read_root(Block(root_cid, blocks[root_cid]))
    return assemble(root, blocks)


def _newest_of(blocks: Mapping[str, bytes]) -> roots.Root:
    found = []
    for cid, data in blocks.items():
        with contextlib.suppress(ContentError):
            found.append(roots.read_root(Block(cid, data)))
    before = {root.manifest.root_cid for root in found}
    last = [root for root in found if root.cid not in before]
    if len(last) != 1:
        raise ContentError("other_roots", f"the CAR file names no single root and holds {len(last)} snapshots")
    return last[0]


def read(root_cid: str, fetch: Callable[[str], bytes | None]) -> Snapshot:
    """Return a snapshot from the blocks that `fetch` returns. Raises StorageError if a block does not match its CID."""
    root = parse_root(root_cid, _present(fetch(root_cid)))
    blocks = {cid: _present(fetch(cid)) for cid in {root_cid, *root.blocks}}
    return assemble(root, blocks)


def parse_root(cid: str, data: bytes) -> roots.Root:
    """Check a root block against its CID and return the root. Raises StorageError."""
    with storage_errors():
        return roots.read_root(Block(cid, data))


def assemble(root: roots.Root, blocks: Mapping[str, bytes]) -> Snapshot:
    """Return the snapshot that a root and its blocks form. Raises StorageError for a missing or wrong block."""
    with storage_errors():
        sealed = roots.sealed_of(root, blocks)
    ordered = {cid: blocks[cid] for cid in (root.cid, *root.blocks)}
    listed = tuple(Block(cid, data) for cid, data in ordered.items())
    return Snapshot(root.cid, client_manifest(root.manifest), sealed, listed, root.manifest.delegation)


def client_manifest(manifest: roots.Manifest) -> VaultManifest:
    """Return the manifest in a root, as the interface's type."""
    return VaultManifest(
        root_cid=manifest.root_cid,
        did=manifest.did,
        updated_at=manifest.updated_at,
        wasm_version=manifest.wasm_version,
        schema_version=1,
    )


def blocks_of(did: str, blocks: Mapping[str, bytes]) -> set[str]:
    """Return the blocks that belong to a vault's snapshots: its roots and the blocks that they link to."""
    found: set[str] = set()
    for cid, data in blocks.items():
        with contextlib.suppress(ContentError):
            root = roots.read_root(Block(cid, data)) if codec_of(cid) == "dag-cbor" else None
            if root is not None and root.manifest.did == did:
                found |= {cid, *root.blocks}
    return found


@contextlib.contextmanager
def storage_errors() -> Iterator[None]:
    """Converts ContentError to StorageError with the same message."""
    try:
        yield
    except ContentError as error:
        raise StorageError(str(error)) from error


def _present(data: bytes | None) -> bytes:
    if data is None:
        raise StorageError("a block of the snapshot is missing")
    return data
