"""Unsigned varints (multiformats): seven bits per byte, least significant first, in the shortest form."""

from __future__ import annotations

from holdfast.content.errors import ContentError

_MORE = 0x80
_SHORT = [bytes([number]) for number in range(_MORE)]


def encode(number: int) -> bytes:
    """Encode a non-negative number as a varint."""
    if number < _MORE:
        return _SHORT[number]
    parts = bytearray()
    while number >= _MORE:
        parts.append(number & 0x7F | _MORE)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def decode(data: bytes | bytearray | memoryview, start: int, longest: int) -> tuple[int, int] | None:
    """Return the number at `start` and the position after it, or None if the bytes end within the varint.

    Raises ContentError if the varint has more than `longest` bytes, or more than it needs.
    """
    number = 0
    for index, byte in enumerate(data[start : start + longest]):
        number |= (byte & 0x7F) << (7 * index)
        if byte < _MORE:
            if byte == 0 and index:
                raise ContentError("invalid_varint", "a varint is longer than it needs to be")
            return number, start + index + 1
    if len(data) - start >= longest:
        raise ContentError("invalid_varint", f"a varint takes more than {longest} bytes")
    return None
