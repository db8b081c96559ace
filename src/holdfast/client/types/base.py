"""The base of all client-side types: frozen, keyword-only, snake_case in Python, and the interface's names in JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self

import msgspec

from holdfast.wire.encoding import from_base64url, from_hex

if TYPE_CHECKING:
    from collections.abc import Mapping


class Octets(bytes):
    """Bytes, encoded as the interface's `number[]`. Base64 and 0x-hex are also accepted."""

    __slots__ = ()


class Wire:
    """Converts between an object and its JSON form."""

    __slots__ = ()

    def to_json(self) -> dict[str, object]:
        """Return the JSON object with the interface's names. Absent optional fields are left out."""
        value: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self, enc_hook=_encode))
        return value

    @classmethod
    def from_json(cls, data: Mapping[str, object] | str | bytes) -> Self:
        """Construct the object from a JSON object, given as a mapping or as JSON text. Unknown fields are ignored.

        Raises:
            ValueError: a field is missing or has another type than the interface documents.
        """
        try:
            value = msgspec.json.decode(data) if isinstance(data, (str, bytes)) else data
            return msgspec.convert(value, cls, dec_hook=decode_hook)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise ValueError(str(error)) from error


class Record(msgspec.Struct, Wire, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of the client-side types. Optional fields default to None or to the documented default."""


_LIKE_HEX = re.compile(r"(?!0[xX][0-9a-fA-F]*$)(?=.{16})(?:.{4})+", re.ASCII)


def decode_hook(kind: type, value: object) -> object:
    """Decode Octets from any of their three JSON forms. Raises ValueError; NotImplementedError for another type."""
    if kind is not Octets:
        raise NotImplementedError(kind)
    return Octets(octets(value))


def octets(value: object) -> bytes:
    """Decode bytes from a list of integers, 0x-hex or base64. Raises ValueError for anything else.

    Base64 may begin with `0x` or `0X` too, as one signature in 2048 does. Such a text is read as base64 if it has at
    least 16 characters, is padded and is not hex as a whole.
    """
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, str):
        return (
            from_hex(value) if value[:2] in {"0x", "0X"} and not _LIKE_HEX.fullmatch(value) else from_base64url(value)
        )
    if isinstance(value, (list, tuple)) and all(type(item) is int for item in value):
        return bytes(value)
    raise ValueError("expected bytes: numbers from 0 to 255, 0x-hex or base64")


def _encode(value: object) -> Any:
    if isinstance(value, Octets):
        return list(value)
    raise NotImplementedError(type(value))
