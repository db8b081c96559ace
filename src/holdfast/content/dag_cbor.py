"""Writes and strictly reads DAG-CBOR (IPLD), within bounds that keep any input cheap.

Only the canonical form is read: shortest lengths, sorted and distinct names, 64-bit floats. A link must contain a CID
of the kind in content/cids.py, and the number of items and their depth are limited, because the bytes come from
strangers.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import msgspec

from holdfast.content.cids import CID_BYTES, is_supported
from holdfast.content.errors import ContentError

MAX_ITEMS = 256  # a snapshot's root has about 40, a token about 30
MAX_DEPTH = 32  # as in the enclave
_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _LIST, _MAP, _TAG, _SIMPLE = range(8)
_WIDTHS = {24: 1, 25: 2, 26: 4, 27: 8}
_LEAST = {24: 24, 25: 1 << 8, 26: 1 << 16, 27: 1 << 32}
_CONSTANTS = {0xF4: False, 0xF5: True, 0xF6: None}
_FLOAT = 0xFB
_LINK_TAG = 42
_CID_HEAD = b"\x58\x25\x00"  # 37 bytes, of which the first is 0


class Link(msgspec.Struct, frozen=True):
    """A link to another block: the bytes of its CID."""

    cid: bytes


def encode(value: object) -> bytes:
    """Encode None, booleans, numbers, text, bytes, links, and lists and dicts of these.

    Raises:
        TypeError: a value of another type.
        OverflowError: an integer of more than 64 bits.
    """
    parts: list[bytes] = []
    _write(value, parts)
    return b"".join(parts)


def decode(data: bytes, max_items: int = MAX_ITEMS) -> object:
    """Decode DAG-CBOR bytes that have at most `max_items` items. Raises ContentError for any other bytes."""
    reader = Reader(data, max_items)
    value = reader.value()
    reader.finish()
    return value


class Reader:
    """Reads items one after another, at most `max_items` of them. Every method raises ContentError."""

    __slots__ = ("_at", "_data", "_left")

    def __init__(self, data: bytes, max_items: int = MAX_ITEMS) -> None:
        self._data = data
        self._at = 0
        self._left = max_items

    def finish(self) -> None:
        """Refuse bytes after the last item."""
        if self._at != len(self._data):
            raise _invalid()

    def map_size(self) -> int:
        """Read the head of a map; return how many names follow, each with its value."""
        kind, size = self._head()
        if kind != _MAP:
            raise _invalid()
        return size

    def octets(self) -> bytes:
        """Read bytes."""
        kind, size = self._head()
        if kind != _BYTES:
            raise _invalid()
        return self._take(size)

    def value(self, depth: int = 0) -> object:
        """Read any item, with the items in it."""
        self._left -= 1
        if self._left < 0 or self._at >= len(self._data):
            raise _invalid()
        first = self._data[self._at]
        if first >> 5 == _SIMPLE:
            return self._simple(first)
        kind, number = self._head()
        if kind == _UNSIGNED:
            return number
        if kind == _NEGATIVE:
            return -1 - number
        if kind == _BYTES:
            return self._take(number)
        if kind == _TEXT:
            return self._text(number)
        return self._compound(kind, number, depth + 1)

    def _compound(self, kind: int, number: int, depth: int) -> Any:
        if kind == _TAG:
            return self._link(number)
        if number > self._left or depth > MAX_DEPTH:
            raise _invalid()
        return [self.value(depth) for _ in range(number)] if kind == _LIST else self._map(number, depth)

    def _map(self, size: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        before = (-1, b"")
        for _ in range(size):
            name = self.value(depth)
            if not isinstance(name, str):
                raise _invalid()
            spelled = name.encode()
            sort_key = (len(spelled), spelled)
            if sort_key <= before:
                raise _invalid()
            before = sort_key
            found[name] = self.value(depth)
        return found

    def _link(self, tag: int) -> Link:
        found = self._take(len(_CID_HEAD) + CID_BYTES)
        cid = found[len(_CID_HEAD) :]
        if tag != _LINK_TAG or not found.startswith(_CID_HEAD) or not is_supported(cid):
            raise _invalid()
        return Link(cid)

    def _text(self, size: int) -> str:
        try:
            return self._take(size).decode()
        except UnicodeDecodeError:
            raise _invalid() from None

    def _simple(self, first: int) -> Any:
        self._at += 1
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first != _FLOAT:
            raise _invalid()
        number: float = struct.unpack(">d", self._take(8))[0]
        if not math.isfinite(number):
            raise _invalid()
        return number

    def _head(self) -> tuple[int, int]:
        """Read an item's kind, and its number or length in the shortest form."""
        first = self._take(1)[0]
        kind, short = first >> 5, first & 31
        if short < 24:  # noqa: PLR2004 - RFC 8949, section 3
            return kind, short
        if short not in _WIDTHS:
            raise _invalid()
        number = int.from_bytes(self._take(_WIDTHS[short]))
        if number < _LEAST[short]:
            raise _invalid()
        return kind, number

    def _take(self, size: int) -> bytes:
        begin = self._at
        self._at += size
        if self._at > len(self._data):
            raise _invalid()
        return self._data[begin : self._at]


def _write(value: Any, parts: list[bytes]) -> None:
    if value is None or isinstance(value, bool):
        parts.append(b"\xf6" if value is None else b"\xf5" if value else b"\xf4")
    elif isinstance(value, int):
        parts.append(_head_of(_UNSIGNED, value) if value >= 0 else _head_of(_NEGATIVE, -1 - value))
    elif isinstance(value, float):
        parts.append(bytes([_FLOAT]) + struct.pack(">d", value))
    elif isinstance(value, Link):
        parts.append(b"\xd8\x2a" + _head_of(_BYTES, len(value.cid) + 1) + b"\x00" + value.cid)
    elif isinstance(value, (bytes, str)):
        data = value if isinstance(value, bytes) else value.encode()
        parts += (_head_of(_BYTES if data is value else _TEXT, len(data)), data)
    else:
        _write_compound(value, parts)


def _write_compound(value: Any, parts: list[bytes]) -> None:
    if isinstance(value, dict):
        parts.append(_head_of(_MAP, len(value)))
        fields = sorted((len(name.encode()), name.encode(), name) for name in value)
        for _, _, name in fields:
            _write(name, parts)
            _write(value[name], parts)
    elif isinstance(value, (list, tuple)):
        parts.append(_head_of(_LIST, len(value)))
        for item in value:
            _write(item, parts)
    else:
        raise TypeError(f"DAG-CBOR has no {type(value).__name__}")


def _head_of(kind: int, number: int) -> bytes:
    if number < 24:  # noqa: PLR2004 - RFC 8949, section 3
        return bytes([kind << 5 | number])
    short = next((short for short, width in _WIDTHS.items() if number < 1 << 8 * width), 27)
    return bytes([kind << 5 | short]) + number.to_bytes(_WIDTHS[short])


def _invalid() -> ContentError:
    return ContentError("invalid_dag_cbor", "the bytes are not DAG-CBOR")
