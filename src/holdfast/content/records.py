"""IPNS records (IPNS specification), in which a publishing key certifies which snapshot is the newest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from holdfast.content import ipld, names, protobuf
from holdfast.content.cids import codec_of
from holdfast.content.errors import ContentError

MEDIA_TYPE = "application/vnd.ipfs.ipns-record"
MAX_RECORD_BYTES = 10 << 10
MAX_SEQUENCE = (1 << 53) - 1  # JavaScript reads no larger one exactly
_MAX_TTL_NS = (1 << 63) - 1
_PREFIX = b"ipns-signature:"
_PATH = "/ipfs/"
_EOL = 0
_VALUE, _VALIDITY_TYPE, _VALIDITY, _SEQUENCE, _TTL, _PUBLIC_KEY, _SIGNATURE, _DATA = 1, 3, 4, 5, 6, 7, 8, 9
_FORM: dict[int, type[int | bytes]] = {
    _VALUE: bytes,
    2: bytes,  # a signature of version 1, which is never believed
    _VALIDITY_TYPE: int,
    _VALIDITY: bytes,
    _SEQUENCE: int,
    _TTL: int,
    _PUBLIC_KEY: bytes,
    _SIGNATURE: bytes,
    _DATA: bytes,
}
_V1 = {_VALUE: "Value", _VALIDITY_TYPE: "ValidityType", _VALIDITY: "Validity", _SEQUENCE: "Sequence", _TTL: "TTL"}
# RFC 3339, section 5.6, with at most nine digits of a second
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:[0-5]\d)", re.ASCII)
_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Record:
    """An IPNS record with a valid signature. The record may have expired: see `is_expired`.

    Attributes:
        public_key: the 32 bytes of the key that signed it.
        root_cid: the snapshot that it names.
        sequence: rises with every change.
        validity_ns: until when it is valid, in nanoseconds since 1970.
        ttl_ns: how long the record may be cached, in nanoseconds.
        data: the whole record as it was read.
    """

    public_key: bytes
    root_cid: str
    sequence: int
    validity_ns: int
    ttl_ns: int
    data: bytes

    @property
    def name(self) -> str:
        """The canonical name under which the record is published."""
        return names.name_of(self.public_key)

    def is_expired(self, now: float) -> bool:
        """Return whether the record has expired at `now`, in seconds since 1970."""
        return self.validity_ns <= int(now * _NS)


class Change(Enum):
    """How a record relates to the known record of the same name."""

    NEWER = "newer"  # a higher sequence
    RENEWED = "renewed"  # the same snapshot and sequence, valid for longer
    SAME = "same"  # nothing new: the same record, or one that expires earlier
    OLDER = "older"  # a lower sequence
    CONFLICT = "conflict"  # the same sequence for another snapshot


def compare_records(known: Record | None, given: Record) -> Change:
    """Return how `given` relates to `known`, which is a record of the same name, or None."""
    if known is None or given.sequence > known.sequence:
        return Change.NEWER
    if given.sequence < known.sequence:
        return Change.OLDER
    if given.root_cid != known.root_cid:
        return Change.CONFLICT
    return Change.RENEWED if given.validity_ns > known.validity_ns else Change.SAME


def read_record(name: str | bytes, data: bytes) -> Record:
    """Parse and verify a record, given its name or an Ed25519 public key of 32 bytes.

    Raises ContentError unless it is in canonical form, signed by the name's key, and names the root of a snapshot.
    An expired record is accepted: the caller decides what to do with it.
    """
    public_key = names.public_key_of(name) if isinstance(name, str) else name
    if len(data) > MAX_RECORD_BYTES:
        raise ContentError("record_too_large", f"an IPNS record has at most {MAX_RECORD_BYTES} bytes")
    fields = protobuf.decode(data, _FORM)
    _check_key(public_key, fields)
    signed = fields.get(_DATA)
    signature = fields.get(_SIGNATURE)
    if not isinstance(signed, bytes) or not isinstance(signature, bytes):
        raise ContentError("invalid_record", "the record has no data or no signature of version 2")
    _check_signature(public_key, signature, signed)
    entry = _read_entry(signed)
    _check_v1(fields, entry)
    return _record(public_key, entry, data)


def _check_key(public_key: bytes, fields: dict[int, int | bytes]) -> None:
    if _PUBLIC_KEY in fields and fields[_PUBLIC_KEY] != names.key_bytes(public_key):
        raise ContentError("other_key", "the record carries another key than its name")


def _check_signature(public_key: bytes, signature: bytes, signed: bytes) -> None:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, _PREFIX + signed)
    except (InvalidSignature, ValueError) as error:
        raise ContentError("invalid_signature", "the record is not signed by the key of its name") from error


def _read_entry(signed: bytes) -> dict[str, Any]:
    try:
        entry = ipld.decode(signed)
    except ContentError as error:
        raise ContentError("invalid_data", "the record's data is not DAG-CBOR") from error
    # Unexpected fields are ignored (IPNS specification, "Record Verification"), because later versions add some.
    if not isinstance(entry, dict) or not entry.keys() >= set(_V1.values()):
        raise ContentError("invalid_data", "the record's data lacks a field")
    return entry


def _check_v1(fields: dict[int, int | bytes], entry: dict[str, Any]) -> None:
    if fields.keys() & (_V1.keys() | {2}) and any(fields.get(number) != entry[name] for number, name in _V1.items()):
        raise ContentError("v1_mismatch", "the record's fields of version 1 differ from its data")


def _record(public_key: bytes, entry: dict[str, Any], data: bytes) -> Record:
    numbers = entry["Sequence"], entry["TTL"], entry["ValidityType"]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ContentError("invalid_data", "a number of the record's data has another form than documented")
    if numbers[0] > MAX_SEQUENCE or numbers[1] > _MAX_TTL_NS or numbers[2] != _EOL:
        raise ContentError("invalid_data", "a number of the record's data is out of range")
    return Record(public_key, _root_of(entry["Value"]), numbers[0], _ns_of(entry["Validity"]), numbers[1], data)


def _root_of(value: object) -> str:
    try:
        path = value.decode("ascii") if isinstance(value, bytes) else ""
        cid = path.removeprefix(_PATH)
        if path.startswith(_PATH) and codec_of(cid) == "dag-cbor":
            return cid
    except (UnicodeDecodeError, ContentError):
        pass
    raise ContentError("invalid_value", "the record does not name the root of a snapshot")


def _ns_of(validity: object) -> int:
    text = validity.decode("ascii", "replace") if isinstance(validity, bytes) else ""
    found = _TIME.fullmatch(text)
    try:
        if found is not None:
            moment = datetime.fromisoformat(f"{found[1]}T{found[2]}{found[4].upper().replace('Z', '+00:00')}")
            return int(moment.timestamp()) * _NS + int((found[3] or "0").ljust(9, "0"))
    except ValueError:
        pass
    raise ContentError("invalid_validity", "the record's validity is not a time of RFC 3339")
