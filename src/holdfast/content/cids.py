"""CIDs of the only supported kind (version 1, SHA-256, codec raw or dag-cbor), and the blocks that they identify.

A supported CID has 36 bytes, four of which are fixed, and one canonical text: base32, lower case, without padding.
Every other spelling (such as base36 or upper case) is refused, so that a text can be compared and used as a file
name.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Literal

from holdfast.content.errors import ContentError

Codec = Literal["raw", "dag-cbor"]

CID_BYTES = 36
MAX_BLOCK_BYTES = 1 << 20
# version 1, codec (multicodec table), sha2-256, digest length
_PREFIXES: dict[Codec, bytes] = {"raw": bytes([1, 0x55, 0x12, 32]), "dag-cbor": bytes([1, 0x71, 0x12, 32])}
_CODECS = {prefix: codec for codec, prefix in _PREFIXES.items()}
_OTHER_KIND = "the CID is of another kind than version 1, SHA-256, raw or dag-cbor"
_TEXT = re.compile(r"b[a-z2-7]{58}")  # multibase: base32 (RFC 4648, section 6), lower case, without padding
_TO_DIGITS = bytes.maketrans(b"abcdefghijklmnopqrstuvwxyz234567", b"0123456789abcdefghijklmnopqrstuv")
_SPARE_BITS = 2  # 58 digits of 5 bits hold 2 more than 36 bytes; they are 0


@dataclass(frozen=True, slots=True)
class Block:
    """A block: its bytes, and their CID in canonical text."""

    cid: str
    data: bytes


def is_supported(cid: bytes) -> bool:
    """Return whether bytes are a CID of the supported kind."""
    return len(cid) == CID_BYTES and cid[:4] in _CODECS


def cid_of(codec: Codec, data: bytes) -> str:
    """Return the CID of `data`."""
    return text_of(_PREFIXES[codec] + hashlib.sha256(data).digest())


def raw_block(data: bytes) -> Block:
    """`data` as one raw block."""
    return Block(cid_of("raw", data), data)


def text_of(cid: bytes) -> str:
    """Return the canonical text of a CID, given its 36 bytes. Raises ContentError for a CID of another kind."""
    if not is_supported(cid):
        raise ContentError("other_cid", _OTHER_KIND)
    return "b" + base64.b32encode(cid).decode().lower().rstrip("=")


def bytes_of(cid: str) -> bytes:
    """Return the 36 bytes of a CID, given its canonical text. Raises ContentError for any other text."""
    if _TEXT.fullmatch(cid) is None:
        raise ContentError("invalid_cid", "the text is not a CID in base32, lower case")
    number = int(cid[1:].encode().translate(_TO_DIGITS), 32)  # a twentieth of the time of `base64.b32decode`
    found = (number >> _SPARE_BITS).to_bytes(CID_BYTES)
    if found[:4] not in _CODECS:
        raise ContentError("other_cid", _OTHER_KIND)
    if number & ((1 << _SPARE_BITS) - 1):
        raise ContentError("invalid_cid", "the text is not the CID's canonical one")
    return found


def codec_of(cid: str) -> Codec:
    """Return the codec of a CID, given its canonical text. Raises ContentError for any other text."""
    return _CODECS[bytes_of(cid)[:4]]


def verified(cid: str, data: bytes) -> bytes:
    """`data` itself. Raises ContentError if `cid` does not name it."""
    if not hmac.compare_digest(hashlib.sha256(data).digest(), bytes_of(cid)[4:]):
        raise ContentError("block_mismatch", "a block does not match its CID")
    return data
