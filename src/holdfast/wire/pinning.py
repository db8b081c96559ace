"""JSON types of the IPFS Pinning Service API 1.0.0 and of Kubo's RPC, as used on the snapshot paths."""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import UNSET, UnsetType, field

from holdfast.wire.models import Answer

MAX_CIDS = 10
MAX_LIMIT = 1000
DEFAULT_LIMIT = 10
MAX_ORIGINS = 20
ORIGIN = re.compile(r"(/[^/\s]+)*/p2p/[A-Za-z0-9]+")


class Match(StrEnum):
    """How names are compared."""

    EXACT = "exact"
    IEXACT = "iexact"
    PARTIAL = "partial"
    IPARTIAL = "ipartial"


class PinnedObject(Answer, frozen=True, kw_only=True):
    """Pin: what to pin. `cid` is a snapshot's root; `name` has at most 255 characters."""

    cid: str
    name: str | UnsetType = UNSET
    origins: list[str] | UnsetType = UNSET
    meta: dict[str, str] | UnsetType = UNSET


class PinReport(Answer, frozen=True, kw_only=True):
    """PinStatus: a pin and its status. `created` is RFC 3339 in UTC, unique and unchanging."""

    requestid: str
    status: str
    created: str
    pin: PinnedObject
    delegates: list[str]
    info: dict[str, str] | UnsetType = UNSET


class PinResults(Answer, frozen=True, kw_only=True):
    """GET /pins: `count` is the total number of matching pins, and `results` contains the newest of them."""

    count: int
    results: list[PinReport]


class FailureText(Answer, frozen=True, kw_only=True):
    """The object `error` in a Failure."""

    reason: str
    details: str


class Failure(Answer, frozen=True, kw_only=True):
    """An error body that both Pinning Service API clients and Kubo RPC clients understand."""

    error: FailureText
    message: str = field(name="Message")
    code: int = field(name="Code", default=0)
    type: str = field(name="Type", default="error")


class ImportedRoot(Answer, frozen=True, kw_only=True):
    """The root of an imported CAR file, in Kubo's form."""

    cid: dict[str, str] = field(name="Cid")
    pin_error: str = field(name="PinErrorMsg", default="")


class ImportedLine(Answer, frozen=True, kw_only=True):
    """One line of the response to an import."""

    root: ImportedRoot = field(name="Root")


class ImportStats(Answer, frozen=True, kw_only=True):
    """What `stats=true` returns."""

    blocks: int = field(name="BlockCount")
    block_bytes: int = field(name="BlockBytesCount")


class StatsLine(Answer, frozen=True, kw_only=True):
    """The last line of the response to an import with `stats=true`."""

    stats: ImportStats = field(name="Stats")


class Revoked(Answer, frozen=True, kw_only=True):
    """POST /api/snapshots/revocations: `cid` of the revoked token, or null if all tokens were revoked."""

    revoked: bool
    cid: str | None = None
