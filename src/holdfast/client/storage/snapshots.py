"""Snapshots: a DAG-CBOR root {manifest, vault: link} and the sealed vault as one raw block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.client.storage.content import (
    Block,
    cid_text,
    dag_cbor_block,
    link,
    raw_block,
    read_car,
    read_dag_cbor,
    verified,
    write_car,
)
from holdfast.client.storage.sealed_header import did_of, is_sealed_vault
from holdfast.client.types import VaultManifest
from holdfast.wire.client_errors import PluginCallError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A vault at one revision. `manifest.root_cid` is the previous snapshot, None for the first."""

    root_cid: str
    manifest: VaultManifest
    sealed: bytes
    blocks: tuple[Block, Block]

    def to_car(self) -> bytes:
        """The snapshot as a CARv1 file."""
        return write_car(self.root_cid, self.blocks)

    @property
    def following_manifest(self) -> VaultManifest:
        """Return the manifest that names this snapshot as the newest."""
        return msgspec.structs.replace(self.manifest, root_cid=self.root_cid)


def take(manifest: VaultManifest, sealed: bytes) -> Snapshot:
    """Return a snapshot of a sealed vault."""
    vault = raw_block(sealed)
    root = dag_cbor_block({"manifest": manifest.to_json(), "vault": link(vault.cid)})
    return Snapshot(root.cid, manifest, sealed, (root, vault))


def from_car(data: bytes) -> Snapshot:
    """Read a snapshot from a CARv1 file. Raises StorageError unless all bytes match their CIDs."""
    root, blocks = read_car(data)
    return read(root, lambda cid: _present(blocks, cid))


def read(root_cid: str, fetch: Callable[[str], bytes]) -> Snapshot:
    """Read a snapshot whose blocks `fetch` returns. Raises StorageError unless all bytes match their CIDs."""
    root_bytes = fetch(root_cid)
    manifest, vault_cid = parse_root(root_cid, root_bytes)
    return assemble(root_cid, root_bytes, manifest, vault_cid, fetch(vault_cid))


def assemble(root_cid: str, root: bytes, manifest: VaultManifest, vault_cid: str, sealed: bytes) -> Snapshot:
    """Return a snapshot of verified parts."""
    blocks = (Block(root_cid, root), Block(vault_cid, verified(vault_cid, sealed)))
    return Snapshot(root_cid, manifest, sealed, blocks)


def parse_root(cid: str, data: bytes) -> tuple[VaultManifest, str]:
    """Return the manifest and the vault's CID in a root block. Raises StorageError if the block is no root."""
    value: Any = read_dag_cbor(cid, data)
    if not isinstance(value, dict) or set(value) != {"manifest", "vault"}:
        raise StorageError("the block is not the root of a snapshot")
    try:
        return VaultManifest.from_json(value["manifest"]), cid_text(link(str(value["vault"])))
    except ValueError as error:
        raise StorageError("a snapshot's manifest is damaged") from error


def did_of_block(cid: str, data: bytes) -> str | None:
    """Return the DID of a stored block that is a root or a sealed vault; None for any other block."""
    try:
        return did_of(data) if is_sealed_vault(data) else parse_root(cid, data)[0].did
    except (StorageError, PluginCallError):
        return None


def _present(blocks: dict[str, bytes], cid: str) -> bytes:
    try:
        return blocks[cid]
    except KeyError:
        raise StorageError("a snapshot lacks a block") from None
