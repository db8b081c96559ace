"""Writes and reads CAR files (IPLD CAR v1) with one root.

The root is the first block; reading is strict and incremental. Every block is checked against its CID as soon as it is
complete, and every length against its limit before memory is allocated for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.content import ipld, varints
from holdfast.content.cids import CID_BYTES, Block, bytes_of, codec_of, text_of, verified
from holdfast.content.errors import ContentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MEDIA_TYPE = "application/vnd.ipld.car"
MAX_HEADER_BYTES = 1 << 10
MAX_ROOT_BYTES = 16 << 10
# A vault is at most 16 MiB in size; snapshots in the older form contain it in one block.
MAX_LEGACY_BLOCK_BYTES = 16 << 20
MAX_CAR_BYTES = 17 << 20
_MAX_VARINT_BYTES = 5
# The bytes of {"roots": [link], "version": 1} in DAG-CBOR before and after the link's 36 bytes.
_HEADER_BEGIN = b"\xa2\x65roots\x81\xd8\x2a\x58\x25\x00"
_HEADER_END = b"\x67version\x01"


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum number of bytes in a CAR file and in a raw block; a DAG-CBOR block is always at most 16 KiB.

    `blocks` is the maximum number of blocks, repeated ones included; a snapshot has at most 17.
    """

    car: int = MAX_CAR_BYTES
    raw_block: int = MAX_LEGACY_BLOCK_BYTES
    blocks: int = 64


@dataclass(slots=True)
class CarReader:
    """Reads a CAR file that arrives in pieces of any size. `root` is known once the header has been read.

    With `any_roots`, the header may name any number of roots; `root` is None unless it names exactly one.
    """

    limits: Limits = field(default_factory=Limits)
    any_roots: bool = False
    root: str | None = None
    _begun: bool = False
    _waiting: bytearray = field(default_factory=bytearray)
    _taken: int = 0
    _blocks: int = 0

    @property
    def position(self) -> int:
        """Where in the file the last block ends that was yielded."""
        return self._taken - len(self._waiting)

    def feed(self, piece: bytes) -> Iterator[Block]:
        """Yield the blocks that `piece` completes, each verified.

        After a ContentError, the reader must no longer be used.
        """
        self._taken += len(piece)
        if self._taken > self.limits.car:
            raise ContentError("car_too_large", f"the CAR file has more than {self.limits.car} bytes")
        self._waiting += piece
        return self._complete()

    def finish(self) -> None:
        """Record that the file has ended. Raises ContentError if it ends inside a section or before its header."""
        if self._waiting or not self._begun:
            raise ContentError("cut_short", "the CAR file is cut short")

    def _complete(self) -> Iterator[Block]:
        while (section := self._next_section()) is not None:
            if not self._begun:
                self.root, self._begun = _read_header(b"".join(section), any_roots=self.any_roots), True
            else:
                yield self._block(*section)

    def _block(self, begin: bytes, data: bytes) -> Block:
        self._blocks += 1
        if self._blocks > self.limits.blocks:
            raise ContentError("car_too_large", f"the CAR file has more than {self.limits.blocks} blocks")
        cid = text_of(begin)
        return Block(cid, verified(cid, data))

    def _next_section(self) -> tuple[bytes, bytes] | None:
        """Return the next section, cut behind its CID; None if it is not complete yet."""
        if (found := varints.decode(self._waiting, 0, _MAX_VARINT_BYTES)) is None:
            return None
        length, start = found
        begin = bytes(self._waiting[start : start + min(length, CID_BYTES)])
        self._check_length(length, begin)
        if len(self._waiting) < start + length:
            return None
        with memoryview(self._waiting) as view:  # copies a block of megabytes once
            data = bytes(view[start + len(begin) : start + length])
        del self._waiting[: start + length]
        return begin, data

    def _check_length(self, length: int, begin: bytes) -> None:
        if not self._begun:
            if length > MAX_HEADER_BYTES:
                raise ContentError("header_too_large", f"the CAR file's header has more than {MAX_HEADER_BYTES} bytes")
            return
        if length < CID_BYTES:
            raise ContentError("section_too_short", "a section of the CAR file is shorter than a CID")
        if length > CID_BYTES + self._longest_block(begin):
            raise ContentError("section_too_large", "a block of the CAR file is larger than allowed")

    def _longest_block(self, begin: bytes) -> int:
        if len(begin) < CID_BYTES:
            return self.limits.raw_block
        return MAX_ROOT_BYTES if codec_of(text_of(begin)) == "dag-cbor" else self.limits.raw_block


def read_car(data: bytes, limits: Limits | None = None) -> tuple[str, dict[str, bytes]]:
    """Return the root of a complete CAR file and its blocks by CID, all verified.

    Raises ContentError for anything else.
    """
    root, blocks = _read_whole(CarReader(limits or Limits()), data)
    assert root is not None
    return root, blocks


def read_car_of_any_roots(data: bytes) -> tuple[str | None, dict[str, bytes]]:
    """Like read_car, but the root is None if the header does not name exactly one."""
    return _read_whole(CarReader(any_roots=True), data)


def _read_whole(reader: CarReader, data: bytes) -> tuple[str | None, dict[str, bytes]]:
    blocks = {block.cid: block.data for block in reader.feed(data)}
    reader.finish()
    if reader.root is not None and reader.root not in blocks:
        raise ContentError("block_missing", "the CAR file does not hold its root")
    return reader.root, blocks


def car_pieces(root: str, blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield the pieces of a CAR file with one root: the header, then each block once, in the given order."""
    yield car_begin(root)
    written: set[str] = set()
    for block in blocks:
        if block.cid not in written:
            written.add(block.cid)
            yield section_begin(block.cid, len(block.data))
            yield block.data


def car_begin(root: str) -> bytes:
    """Return the header of a CAR file with one root, preceded by the header's length."""
    # The header is built from constants, because only the root's CID varies and the general encoder takes a
    # millisecond.
    header = _HEADER_BEGIN + bytes_of(root) + _HEADER_END
    return varints.encode(len(header)) + header


def section_begin(cid: str, length: int) -> bytes:
    """Return the bytes that precede a block's `length` bytes in a CAR file."""
    return varints.encode(CID_BYTES + length) + bytes_of(cid)


def write_car(root: str, blocks: Iterable[Block]) -> bytes:
    """Return a CAR file with one root."""
    return b"".join(car_pieces(root, blocks))


def _read_header(section: bytes, *, any_roots: bool) -> str | None:
    try:
        header: Any = ipld.decode(section)
    except ContentError as error:
        raise ContentError("invalid_header", "the CAR file's header is not DAG-CBOR") from error
    if not isinstance(header, dict) or set(header) != {"roots", "version"} or not isinstance(header["roots"], list):
        raise ContentError("invalid_header", "the CAR file's header is not that of version 1")
    if type(header["version"]) is not int or header["version"] != 1:
        raise ContentError("invalid_header", "the CAR file is of another version than 1")
    if len(header["roots"]) != 1:
        if any_roots:
            return None
        raise ContentError("other_roots", "the CAR file has not exactly one root")
    return ipld.cid_of_link(header["roots"][0])
