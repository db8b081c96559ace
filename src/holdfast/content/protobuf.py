"""The part of Protocol Buffers that IPNS records need: number and byte fields, each at most once.

Fields with unknown numbers are skipped, because later versions of a format add some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.content import varints
from holdfast.content.errors import ContentError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes of the other kinds of values
_MAX_VARINT_BYTES = 10
_MAX_FIELDS = 32  # a record has at most nine that are known


def encode(fields: Mapping[int, int | bytes]) -> bytes:
    """Encode a message that consists of these fields, in the order of their numbers."""
    return b"".join(_field(number, value) for number, value in sorted(fields.items()))


def decode(data: bytes, known: Mapping[int, type[int | bytes]]) -> dict[int, int | bytes]:
    """Parse a message's known fields.

    Raises ContentError for a repeated or mistyped known field, an incomplete field, or more than 32 fields.
    """
    fields: dict[int, int | bytes] = {}
    position, count = 0, 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, kind = tag >> 3, tag & 7
        count += 1
        if count > _MAX_FIELDS or number in fields:
            raise ContentError("invalid_record", "the record has too many fields, or one of them twice")
        value, position = _value(data, position, kind)
        if number in known:
            if type(value) is not known[number]:
                raise ContentError("invalid_record", "a field of the record is of another type")
            fields[number] = value
    return fields


def _value(data: bytes, position: int, kind: int) -> tuple[int | bytes, int]:
    """Return the value at a position, and the position after it."""
    if kind == _NUMBER:
        return _varint(data, position)
    if kind == _BYTES:
        size, position = _varint(data, position)
    elif kind in _FIXED:
        size = _FIXED[kind]
    else:
        raise ContentError("invalid_record", "a field of the record is of a type that is no longer used")
    if size > len(data) - position:
        raise ContentError("invalid_record", "the record is cut short")
    return data[position : position + size], position + size


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varints.encode(number << 3 | _NUMBER) + varints.encode(value)
    return varints.encode(number << 3 | _BYTES) + varints.encode(len(value)) + value


def _varint(data: bytes, position: int) -> tuple[int, int]:
    try:
        found = varints.decode(data, position, _MAX_VARINT_BYTES)
    except ContentError as error:
        raise ContentError("invalid_record", str(error)) from error
    if found is None:
        raise ContentError("invalid_record", "the record is cut short")
    return found
