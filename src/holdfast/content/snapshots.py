"""A snapshot of a sealed vault: a DAG-CBOR root {manifest, size, blocks} that links to raw blocks of at most 1 MiB.

Older snapshots, with a root {manifest, vault} and one raw block, can still be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.content import ipld
from holdfast.content.cars import MAX_LEGACY_BLOCK_BYTES, MAX_ROOT_BYTES
from holdfast.content.cids import MAX_BLOCK_BYTES, Block, codec_of, raw_block, verified
from holdfast.content.errors import ContentError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_SEALED_BYTES = MAX_LEGACY_BLOCK_BYTES
MAX_DELEGATION_BYTES = 8 << 10
_MAX_DID_CHARACTERS = 512
_MAX_VERSION_CHARACTERS = 128
_MAX_INTEGER = (1 << 53) - 1
_FIELDS = frozenset({"rootCid", "did", "updatedAt", "wasmVersion", "schemaVersion"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The facts about a snapshot: its vault, its predecessor, and when and by which enclave the vault was sealed.

    Attributes:
        root_cid: the root of the snapshot before this one, or None.
        did: the vault's DID.
        updated_at: when the vault was sealed, in Unix milliseconds.
        wasm_version: the enclave that sealed it.
        delegation: the UCAN delegation by which the vault's key lets the publishing key name its snapshots, in
            DAG-CBOR; None in snapshots of vaults without a publishing key.
    """

    root_cid: str | None
    did: str
    updated_at: int
    wasm_version: str
    delegation: bytes | None = None

    def fields(self) -> dict[str, object]:
        """Return the manifest as a DAG-CBOR value: the fields of VaultManifest, and `delegation` if it is not None."""
        named: dict[str, object] = {
            "rootCid": self.root_cid,
            "did": self.did,
            "updatedAt": self.updated_at,
            "wasmVersion": self.wasm_version,
            "schemaVersion": 1,
        }
        return named if self.delegation is None else {**named, "delegation": self.delegation}


@dataclass(frozen=True, slots=True)
class Root:
    """A root that was read. `size` is the sealed vault's length in bytes, None in a root of the older form."""

    cid: str
    manifest: Manifest
    size: int | None
    blocks: tuple[str, ...]


def snapshot_blocks(manifest: Manifest, sealed: bytes) -> tuple[Block, ...]:
    """Return a snapshot's blocks, the root first. The same manifest and vault always yield the same root.

    Raises ContentError.
    """
    if not 0 < len(sealed) <= MAX_SEALED_BYTES:
        raise ContentError("vault_too_large", f"a sealed vault has 1 to {MAX_SEALED_BYTES} bytes")
    parts = [raw_block(sealed[at : at + MAX_BLOCK_BYTES]) for at in range(0, len(sealed), MAX_BLOCK_BYTES)]
    links = [ipld.link(part.cid) for part in parts]
    return ipld.dag_cbor_block({"manifest": manifest.fields(), "size": len(sealed), "blocks": links}), *parts


def read_root(block: Block) -> Root:
    """Return the root that a block contains, in the current or older form, after checking the block against its CID.

    Raises ContentError.
    """
    if len(block.data) > MAX_ROOT_BYTES:
        raise ContentError("block_too_large", f"a snapshot's root has more than {MAX_ROOT_BYTES} bytes")
    if codec_of(block.cid) != "dag-cbor":
        raise ContentError("invalid_root", "a snapshot's root is a DAG-CBOR block")
    value = ipld.value_of(block)
    names = set(value) if isinstance(value, dict) else set()
    if names == {"manifest", "vault"}:
        return Root(block.cid, _read_manifest(value["manifest"]), None, (_read_link(value["vault"]),))
    if names != {"manifest", "size", "blocks"} or not isinstance(value["blocks"], list):
        raise ContentError("invalid_root", "the block is not the root of a snapshot")
    _check_size(value["size"], len(value["blocks"]))
    blocks = tuple(_read_link(item) for item in value["blocks"])
    return Root(block.cid, _read_manifest(value["manifest"]), value["size"], blocks)


def sealed_of(root: Root, blocks: Mapping[str, bytes]) -> bytes:
    """Return the sealed vault that these blocks contain. Raises ContentError unless all are there and match the root.

    Blocks to which the root does not link are ignored; see `check_all_linked`.
    """
    parts = [_found(cid, blocks) for cid in root.blocks]
    if root.size is not None:
        _check_lengths(root.size, [len(part) for part in parts])
    return b"".join(parts)


def check_sizes(root: Root, sizes: Mapping[str, int]) -> None:
    """Check by lengths alone that all blocks of a snapshot are present and fit its root. Raises ContentError."""
    if not set(root.blocks) <= set(sizes):
        raise ContentError("block_missing", "a block of the snapshot is missing")
    if root.size is not None:
        _check_lengths(root.size, [sizes[cid] for cid in root.blocks])


def check_all_linked(root: Root, blocks: Mapping[str, object]) -> None:
    """Check that there are no blocks other than the root and those to which it links. Raises ContentError."""
    if not set(blocks) <= {root.cid, *root.blocks}:
        raise ContentError("block_unlinked", "a block does not belong to the snapshot")


def _found(cid: str, blocks: Mapping[str, bytes]) -> bytes:
    if cid not in blocks:
        raise ContentError("block_missing", "a block of the snapshot is missing")
    return verified(cid, blocks[cid])


def _check_lengths(size: int, lengths: list[int]) -> None:
    whole = all(length == MAX_BLOCK_BYTES for length in lengths[:-1])
    if not whole or sum(lengths) != size:
        raise ContentError("other_size", "the blocks of a snapshot have other lengths than its root says")


def _check_size(size: object, count: int) -> None:
    if type(size) is not int or not 0 < size <= MAX_SEALED_BYTES or count != -(-size // MAX_BLOCK_BYTES):
        raise ContentError("other_size", "a snapshot's size does not fit its number of blocks")


def _read_link(value: object) -> str:
    try:
        cid = ipld.cid_of_link(value)
    except ContentError as error:
        raise ContentError("invalid_root", "a link of a snapshot's root names no raw block") from error
    if codec_of(cid) != "raw":
        raise ContentError("invalid_root", "a link of a snapshot's root names no raw block")
    return cid


def _read_manifest(value: object) -> Manifest:
    if not isinstance(value, dict) or set(value) - {"delegation"} != _FIELDS:
        raise ContentError("invalid_manifest", "a snapshot's manifest has other fields than documented")
    well_formed = (
        _is_root_cid(value["rootCid"])
        and _is_text(value["did"], _MAX_DID_CHARACTERS)
        and _is_text(value["wasmVersion"], _MAX_VERSION_CHARACTERS)
        and (type(value["updatedAt"]) is int and 0 <= value["updatedAt"] <= _MAX_INTEGER)
        and (type(value["schemaVersion"]) is int and value["schemaVersion"] == 1)
        and _is_delegation(value)
    )
    if not well_formed:
        raise ContentError("invalid_manifest", "a field of a snapshot's manifest has another form than documented")
    named = {"root_cid": "rootCid", "did": "did", "updated_at": "updatedAt", "wasm_version": "wasmVersion"}
    return Manifest(**{ours: value[theirs] for ours, theirs in named.items()}, delegation=value.get("delegation"))


def _is_root_cid(value: object) -> bool:
    try:
        return value is None or (isinstance(value, str) and codec_of(value) == "dag-cbor")
    except ContentError:
        return False


def _is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and 0 < len(value) <= longest


def _is_delegation(fields: dict[str, object]) -> bool:
    value = fields.get("delegation")
    return "delegation" not in fields or (isinstance(value, bytes) and 0 < len(value) <= MAX_DELEGATION_BYTES)
