"""Pins of the IPFS Pinning Service API 1.0.0: validates requests and queries, and selects the matching pins."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from holdfast.content.cids import codec_of
from holdfast.content.errors import ContentError
from holdfast.wire.failures import BAD_REQUEST, SnapshotRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_NAME_CHARACTERS = 255
MAX_META_ENTRIES = 64
_MAX_QUERY_CHARACTERS = 8 * 1024
MAX_ORIGINS = 20
MAX_CIDS = 10
MAX_LIMIT = 1000
DEFAULT_LIMIT = 10
MAX_PIN_BYTES = 4 * 1024  # of a pin's name, origins and meta, as JSON
_MAX_ORIGIN_CHARACTERS = 1024
_ORIGIN = re.compile(r"(/[^/\s]+)*/p2p/[A-Za-z0-9]+")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)")
_KNOWN = frozenset({"cid", "name", "match", "status", "before", "after", "limit", "meta"})
_META_PART = re.compile(r"meta\[(.*)\]", re.DOTALL)


class PinState(StrEnum):
    """The status of a pin, which is queued until its snapshot has been uploaded."""

    QUEUED = "queued"
    PINNING = "pinning"
    PINNED = "pinned"
    FAILED = "failed"


class Match(StrEnum):
    """How names are compared."""

    EXACT = "exact"
    IEXACT = "iexact"
    PARTIAL = "partial"
    IPARTIAL = "ipartial"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPin:
    """A validated request to pin a CID."""

    cid: str
    name: str | None = None
    origins: tuple[str, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A stored pin. `created_us`, microseconds since the epoch, is unique among the DID's pins."""

    request_id: str
    did: str
    asked: AskedPin
    state: PinState
    created_us: int
    info: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PinQuery:
    """The parameters of GET /pins. Times are in nanoseconds since the epoch."""

    cids: frozenset[str] = frozenset()
    name: str | None = None
    match: Match = Match.EXACT
    states: frozenset[PinState] = frozenset({PinState.PINNED})
    before_ns: int | None = None
    after_ns: int | None = None
    limit: int = DEFAULT_LIMIT
    meta: Mapping[str, str] = field(default_factory=dict)

    def takes(self, pin: Pin) -> bool:
        """Return whether a pin matches."""
        return (
            pin.state in self.states
            and (not self.cids or pin.asked.cid in self.cids)
            and (self.before_ns is None or pin.created_us * 1000 < self.before_ns)
            and (self.after_ns is None or pin.created_us * 1000 > self.after_ns)
            and (self.name is None or _matches(self.name, pin.asked.name, self.match))
            and all(pin.asked.meta.get(name) == value for name, value in self.meta.items())
        )


def asked_pin(body: bytes) -> AskedPin:
    """Parse a request body's Pin object. Raises SnapshotRefused(BAD_REQUEST) with the field that is wrong."""
    if len(body) > MAX_PIN_BYTES:
        raise _bad(f"name, origins and meta have at most {MAX_PIN_BYTES} bytes together")
    try:
        value = _decode_pin(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _bad("the body is no JSON object") from None
    cid = _typed(value, "cid", _TEXT)
    if cid is None:
        raise _bad("cid: the CID of a snapshot's root is needed")
    name = _typed(value, "name", _TEXT)
    if name is not None and len(name) > MAX_NAME_CHARACTERS:
        raise _bad(f"name: text of at most {MAX_NAME_CHARACTERS} characters")
    origins, meta = _origins(_typed(value, "origins", _TEXTS)), _meta(_typed(value, "meta", _NAMED))
    return AskedPin(cid=root_cid(cid), name=name, origins=origins, meta=meta)


_decode_pin = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
# Values are decoded as what they should be, because decoding others may take long.
_TEXT = msgspec.json.Decoder(str | None).decode
_TEXTS = msgspec.json.Decoder(list[str] | None).decode
_NAMED = msgspec.json.Decoder(dict[str, str] | None).decode
_EXPECTED = {
    "cid": "text",
    "name": "text",
    "origins": "a list of multiaddrs",
    "meta": "an object whose values are text",
}


def _typed(value: Mapping[str, msgspec.Raw], name: str, decode: Callable[[msgspec.Raw], Any]) -> Any:
    """Return a field of a pin, or None. Raises SnapshotRefused(BAD_REQUEST) for a value of another type."""
    try:
        return None if name not in value else decode(value[name])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _bad(f"{name}: {_EXPECTED[name]} is needed") from None


def root_cid(text: str) -> str:
    """Return a root's CID unchanged. Raises SnapshotRefused(BAD_REQUEST) for anything but the canonical text."""
    try:
        if codec_of(text) == "dag-cbor":
            return text
    except ContentError:
        pass
    raise _bad("cid: only roots of snapshots are kept here: CID version 1 in base32, dag-cbor, SHA-256")


def pin_query(query: str) -> PinQuery:
    """Parse a query string. Raises SnapshotRefused(BAD_REQUEST) with the parameter that is out of bounds."""
    if len(query) > _MAX_QUERY_CHARACTERS:
        raise _bad(f"a query has at most {_MAX_QUERY_CHARACTERS} characters")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), max_num_fields=MAX_META_ENTRIES)
    except ValueError:
        raise _bad("the query cannot be read") from None
    given: dict[str, str] = {}
    meta: dict[str, str] = {}
    for name, value in pairs:
        if part := _META_PART.fullmatch(name):  # as @ipfs-shipyard/pinning-service-client sends it
            meta[part[1]] = value
        elif name in given and name in {"cid", "status"}:
            given[name] += "," + value  # the exploded form of a list
        elif name in _KNOWN:
            given.setdefault(name, value)
    return PinQuery(**_parsed(given, meta))


def _parsed(given: Mapping[str, str], meta: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, (attribute, parse) in _PARAMETERS.items():
        if name in given:
            found[attribute] = parse(given[name])
    if meta or "meta" in given:
        found["meta"] = {**found.get("meta", {}), **_meta(meta)}
    return found


def moment_text(created_us: int) -> str:
    """Format microseconds since the epoch as RFC 3339 in UTC."""
    seconds, fraction = divmod(created_us, 1_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}.{fraction:06d}Z"


def _matches(wanted: str, name: str | None, match: Match) -> bool:
    if name is None:
        return False
    if match in {Match.IEXACT, Match.IPARTIAL}:
        wanted, name = wanted.casefold(), name.casefold()
    return wanted == name if match in {Match.EXACT, Match.IEXACT} else wanted in name


def _bad(details: str) -> SnapshotRefused:
    return SnapshotRefused(BAD_REQUEST, details)


def _origins(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if type(value) is not list or len(value) > MAX_ORIGINS or not all(map(_is_origin, value)):
        raise _bad(f"origins: at most {MAX_ORIGINS} multiaddrs, each ending in /p2p/ and a peer ID")
    if len(set(value)) != len(value):
        raise _bad("origins: an entry is repeated")
    return tuple(value)


def _is_origin(value: object) -> bool:
    return type(value) is str and len(value) <= _MAX_ORIGIN_CHARACTERS and bool(_ORIGIN.fullmatch(value))


def _meta(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if type(value) is not dict or not all(type(text) is str for text in value.values()):
        raise _bad("meta: an object whose values are text")
    if len(value) > MAX_META_ENTRIES:
        raise _bad(f"meta: at most {MAX_META_ENTRIES} entries")
    return value


def _meta_parameter(text: str) -> dict[str, str]:
    try:
        return _meta(_NAMED(text))
    except (msgspec.DecodeError, RecursionError):
        raise _bad("meta: a JSON object whose values are text") from None


def _cids(text: str) -> frozenset[str]:
    cids = text.split(",")
    if not 0 < len(cids) <= MAX_CIDS or len(set(cids)) != len(cids):
        raise _bad(f"cid: 1 to {MAX_CIDS} different CIDs, separated by commas")
    return frozenset(map(_any_cid, cids))


def _any_cid(text: str) -> str:
    """Accept any string that may be a CID. A CID of a kind that is not stored here matches no pin."""
    if not re.fullmatch(r"[A-Za-z0-9+/=_-]{8,128}", text):
        raise _bad("cid: a text that is no CID")
    return text


def _states(text: str) -> frozenset[PinState]:
    words = text.split(",")
    if len(set(words)) != len(words) or not set(words) <= set(PinState):
        raise _bad("status: different ones of queued, pinning, pinned, failed, separated by commas")
    return frozenset(map(PinState, words))


def _match(text: str) -> Match:
    if text not in set(Match):
        raise _bad("match: exact, iexact, partial or ipartial")
    return Match(text)


def _name(text: str) -> str:
    if len(text) > MAX_NAME_CHARACTERS:
        raise _bad(f"name: at most {MAX_NAME_CHARACTERS} characters")
    return text


def _limit(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 0 < int(text) <= MAX_LIMIT:
        raise _bad(f"limit: a whole number from 1 to {MAX_LIMIT}")
    return int(text)


def _moment_ns(text: str) -> int:
    """Convert an RFC 3339 time to nanoseconds since the epoch."""
    found = _MOMENT.fullmatch(text.replace(" ", "+"))  # a plus sign of the zone that the query's decoding took
    try:
        if found is not None:
            whole = datetime.fromisoformat(f"{found[1]}T{found[2]}{found[4].upper().replace('Z', '+00:00')}")
            return int(whole.timestamp()) * 1_000_000_000 + int((found[3] or "0").ljust(9, "0"))
    except ValueError:
        pass
    raise _bad("before, after: an RFC 3339 time, such as 2027-01-15T08:00:00Z")


_PARAMETERS: dict[str, tuple[str, Any]] = {
    "cid": ("cids", _cids),
    "name": ("name", _name),
    "match": ("match", _match),
    "status": ("states", _states),
    "before": ("before_ns", _moment_ns),
    "after": ("after_ns", _moment_ns),
    "limit": ("limit", _limit),
    "meta": ("meta", _meta_parameter),
}
