"""Content addresses and CAR files (CIDv1, DAG-CBOR, CARv1), as pure functions. Only SHA-256, only two codecs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dag_cbor
from dag_cbor.decoding import CBORDecodingError
from multiformats import CID, multihash, varint

from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_BLOCK_BYTES = 32 * 1024 * 1024
_MAX_VARINT_BYTES = 9  # of the unsigned varint of multiformats
_SHA2_256 = "sha2-256"
_CODECS = ("raw", "dag-cbor")


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes and the CID that names them."""

    cid: str
    data: bytes


def raw_block(data: bytes) -> Block:
    """`data` as one raw block."""
    return _block(data, "raw")


def dag_cbor_block(value: Any) -> Block:
    """`value` in DAG-CBOR; links are `multiformats.CID` objects."""
    return _block(dag_cbor.encode(value), "dag-cbor")


def link(cid: str) -> CID:
    """Return the link to a block. Raises StorageError unless it is a CIDv1 with SHA-256 and one of the two codecs."""
    try:
        parsed = CID.decode(cid)
    except (ValueError, KeyError) as error:
        raise StorageError("not a CID") from error
    known = parsed.version == 1 and parsed.codec.name in _CODECS and parsed.hashfun.name == _SHA2_256
    if not known or len(parsed.raw_digest) != hashlib.sha256().digest_size:
        raise StorageError("a CID of another kind than CIDv1, SHA-256, raw or dag-cbor")
    return parsed


def cid_text(cid: CID) -> str:
    """Return the CID in base32, the only text form used here."""
    return str(cid.set(base="base32"))


def verified(cid: str, data: bytes) -> bytes:
    """Return `data`. Raises StorageError if it does not match `cid`."""
    if len(data) > MAX_BLOCK_BYTES or hashlib.sha256(data).digest() != link(cid).raw_digest:
        raise StorageError("a block does not match its CID")
    return data


def read_dag_cbor(cid: str, data: bytes) -> Any:
    """Return the value of a verified DAG-CBOR block. Raises StorageError for other bytes."""
    try:
        return dag_cbor.decode(verified(cid, data))
    except (ValueError, RecursionError, CBORDecodingError) as error:
        raise StorageError("a block is not DAG-CBOR") from error


def write_car(root: str, blocks: Iterable[Block]) -> bytes:
    """Return a CARv1 file with one root."""
    header = dag_cbor.encode({"roots": [link(root)], "version": 1})
    parts = [varint.encode(len(header)), header]
    for block in blocks:
        named = bytes(link(block.cid)) + block.data
        parts += [varint.encode(len(named)), named]
    return b"".join(parts)


def read_car(data: bytes) -> tuple[str, dict[str, bytes]]:
    """Return root and blocks of a CARv1 file, each verified. Raises StorageError for anything else."""
    sections = _sections(data)
    try:
        header: Any = dag_cbor.decode(next(sections))
        root = cid_text(header["roots"][0])
        if header["version"] != 1 or len(header["roots"]) != 1:
            raise StorageError("the CAR file has another version than 1, or several roots")
        blocks = dict(_named(section) for section in sections)
    except (ValueError, KeyError, TypeError, IndexError, StopIteration, RecursionError, CBORDecodingError) as error:
        raise StorageError("not a CAR file") from error
    if root not in blocks:
        raise StorageError("the CAR file lacks its root")
    return root, blocks


def _block(data: bytes, codec: str) -> Block:
    if len(data) > MAX_BLOCK_BYTES:
        raise StorageError(f"a block is larger than {MAX_BLOCK_BYTES} bytes")
    return Block(str(CID("base32", 1, codec, multihash.digest(data, _SHA2_256))), data)


def _sections(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        length, size, _ = varint.decode_raw(data[position : position + _MAX_VARINT_BYTES])
        position += size
        if length > len(data) - position:
            raise StorageError("the CAR file is truncated")
        yield data[position : position + length]
        position += length


_CID_BYTES = 36  # version, codec, hash function, digest length (one byte each), digest


def _named(section: bytes) -> tuple[str, bytes]:
    cid = cid_text(CID.decode(section[:_CID_BYTES]))
    return cid, verified(cid, section[_CID_BYTES:])
