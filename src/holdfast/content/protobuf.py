"""The part of Protocol Buffers that IPNS records need: number and byte fields, each at most once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.content import varints
from holdfast.content.errors import ContentError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER, _BYTES = 0, 2
_MAX_VARINT_BYTES = 10


def encode(fields: Mapping[int, int | bytes]) -> bytes:
    """Encode a message that consists of these fields, in the order of their numbers."""
    return b"".join(_field(number, value) for number, value in sorted(fields.items()))


def decode(data: bytes, known: Mapping[int, type[int | bytes]]) -> dict[int, int | bytes]:
    """Parse a message's fields. Raises ContentError for an unknown, repeated, mistyped or incomplete field."""
    fields: dict[int, int | bytes] = {}
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, kind = tag >> 3, tag & 7
        if number in fields or {_NUMBER: int, _BYTES: bytes}.get(kind) is not known.get(number, object):
            raise ContentError("invalid_record", "a field of the record is unknown, repeated or of another type")
        value, position = _varint(data, position)
        fields[number] = value
        if kind == _BYTES:
            if value > len(data) - position:
                raise ContentError("invalid_record", "the record is cut short")
            fields[number] = data[position : position + value]
            position += value
    return fields


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
