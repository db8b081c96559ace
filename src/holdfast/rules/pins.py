"""Pins of the IPFS Pinning Service API 1.0.0: validates requests and queries, and selects the matching pins."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.content.cids import codec_of
from holdfast.content.errors import ContentError
from holdfast.wire.failures import BAD_REQUEST, SnapshotRefused
from holdfast.wire.pinning import DEFAULT_LIMIT, MAX_CIDS, MAX_LIMIT, MAX_ORIGINS, ORIGIN, Match

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.wire.requests import ListPins, PinSnapshot

MAX_NAME_CHARACTERS = 255
MAX_META_ENTRIES = 64
MAX_PIN_BYTES = 4 * 1024  # of a pin's name, origins and meta, as JSON
_MAX_ORIGIN_CHARACTERS = 1024
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)")


class PinState(StrEnum):
    """The status of a pin, which is queued until its snapshot has been uploaded."""

    QUEUED = "queued"
    PINNING = "pinning"
    PINNED = "pinned"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PinRequest:
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
    request: PinRequest
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
            and (not self.cids or pin.request.cid in self.cids)
            and (self.before_ns is None or pin.created_us * 1000 < self.before_ns)
            and (self.after_ns is None or pin.created_us * 1000 > self.after_ns)
            and (self.name is None or _matches(self.name, pin.request.name, self.match))
            and all(pin.request.meta.get(name) == value for name, value in self.meta.items())
        )


def checked_pin(request: PinSnapshot) -> PinRequest:
    """Return a request to pin with valid fields. Raises SnapshotRefused(BAD_REQUEST) with the field that is wrong."""
    if len(msgspec.json.encode(request)) > MAX_PIN_BYTES:
        raise _bad(f"name, origins and meta have at most {MAX_PIN_BYTES} bytes together")
    if request.name is not None and len(request.name) > MAX_NAME_CHARACTERS:
        raise _bad(f"name: text of at most {MAX_NAME_CHARACTERS} characters")
    origins, meta = _origins(request.origins or []), _meta(request.meta or {})
    return PinRequest(cid=root_cid(request.cid), name=request.name, origins=origins, meta=meta)


def root_cid(text: str) -> str:
    """Return a root's CID unchanged. Raises SnapshotRefused(BAD_REQUEST) for anything but the canonical text."""
    try:
        if codec_of(text) == "dag-cbor":
            return text
    except ContentError:
        pass
    raise _bad("cid: only roots of snapshots are kept here: CID version 1 in base32, dag-cbor, SHA-256")


def pin_query(request: ListPins) -> PinQuery:
    """Parse the parameters. Raises SnapshotRefused(BAD_REQUEST) with the parameter that is out of bounds."""
    given = {name: getattr(request, name) for name in _PARAMETERS}
    parsed: dict[str, Any] = {}
    for name, (attribute, parse) in _PARAMETERS.items():
        if given[name] is not None:
            parsed[attribute] = parse(given[name])
    return PinQuery(**parsed)


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


def _origins(value: list[str]) -> tuple[str, ...]:
    if len(value) > MAX_ORIGINS or not all(map(_is_origin, value)):
        raise _bad(f"origins: at most {MAX_ORIGINS} multiaddrs, each ending in /p2p/ and a peer ID")
    if len(set(value)) != len(value):
        raise _bad("origins: an entry is repeated")
    return tuple(value)


def _is_origin(value: str) -> bool:
    return len(value) <= _MAX_ORIGIN_CHARACTERS and bool(ORIGIN.fullmatch(value))


def _meta(value: dict[str, str]) -> dict[str, str]:
    if len(value) > MAX_META_ENTRIES:
        raise _bad(f"meta: at most {MAX_META_ENTRIES} entries")
    return value


_entries = msgspec.json.Decoder(dict[str, str] | None).decode


def _meta_parameter(text: str) -> dict[str, str]:
    try:
        return _meta(_entries(text) or {})
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
        raise _bad("cid: a text that is not a CID")
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
