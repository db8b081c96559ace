"""Determines what a request to the trustless gateway asks for (IPFS specifications: Trustless Gateway and IPIP-523)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import quote

from holdfast.content import varints
from holdfast.content.bases import from_multibase
from holdfast.content.ipld import Link, encode
from holdfast.rules.header_lists import listed
from holdfast.wire.failures import BAD_REQUEST, NOT_ACCEPTABLE, SnapshotRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.wire.requests import ReadBlock

_MAX_FILENAME = 200
_MAX_IDENTITY = 128
_MAX_VARINT_BYTES = 2
_IDENTITY = bytes([1, 0x55, 0])  # version 1, codec raw, hash function identity (multicodec table)
_IDENTITY_TEXT = "bafkqa"  # how the text of every such CID begins
_MAX_MEDIA_PARAMETERS = 16
_WEIGHT = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")  # RFC 9110, section 12.4.2
_CAR_FORMS = "CAR files have version=1, order=dfs, and dups=y or dups=n"
_ENTITY = re.compile(r"-?[0-9]{1,15}:(\*|-?[0-9]{1,15})")
_RANGE = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")


class Form(StrEnum):
    """The media types of the formats in which the gateway returns data."""

    RAW = "application/vnd.ipld.raw"
    CAR = "application/vnd.ipld.car"
    RECORD = "application/vnd.ipfs.ipns-record"


_FORMATS = {"raw": Form.RAW, "car": Form.CAR, "ipns-record": Form.RECORD}
_MEDIA = frozenset(Form)
_NAMES = {form: name for name, form in _FORMATS.items()}
_ENDINGS = {Form.RAW: "bin", Form.CAR: "car", Form.RECORD: "ipns-record"}


# Other endings would make the service a place from which strangers hand out programs under its name.
_NAME = re.compile(r".+\.(car|bin|ipns-record)", re.DOTALL)
_NOT_IN_NAMES = str.maketrans("", "", '"\\/')


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested response format and its parameters.

    Attributes:
        dups: whether a CAR repeats a block as often as the root links to it.
        scope: `block`, `entity` or `all` of what the path ends at.
        entity_bytes: the range as it was sent; no block here is larger than one entity, so it only changes the ETag.
        from_accept: whether the form came from Accept alone.
        overruled: whether the query asked for another form or other parameters than Accept.
    """

    form: Form
    dups: bool = False
    scope: str = "all"
    entity_bytes: str = ""
    from_accept: bool = False
    overruled: bool = False

    @property
    def media(self) -> str:
        """The response's Content-Type."""
        if self.form is not Form.CAR:
            return self.form.value
        return f"{self.form.value}; version=1; order=dfs; dups={'y' if self.dups else 'n'}"

    def etag(self, cid: str, path: str) -> str:
        """Return a strong ETag, since the same CID, path and parameters always return the same bytes."""
        return f'"{cid}.{self.shape(path)}"'

    def shape(self, path: str) -> str:
        """Return the part of the ETag after the CID."""
        if self.form is Form.RAW and not self.entity_bytes:
            return "raw"
        shape = f"{path}|{self.scope}|{self.entity_bytes}|{self.dups}"
        digest = hashlib.sha256(shape.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return f"{self.name}.{digest}"

    @property
    def name(self) -> str:
        """The format's name in the query parameter `format`."""
        return _NAMES[self.form]

    def location(self, path: str) -> str:
        """Return the Content-Location: the URL that selects this format without an Accept header."""
        car = f"&car-dups={'y' if self.dups else 'n'}" if self.form is Form.CAR else ""
        scope = f"&dag-scope={self.scope}" if self.form is Form.CAR and not self.entity_bytes else ""
        entity = f"&entity-bytes={self.entity_bytes}" if self.entity_bytes else ""
        return f"{quote(path)}?format={self.name}{car}{scope if self.scope != 'all' else ''}{entity}"

    def disposition(self, cid: str, given: str | None) -> str:
        """Return the Content-Disposition of an attachment named `given`, or else `cid`, which must be valid.

        `given` counts only if it ends as a name of what the gateway returns.
        """
        return attachment(given or "", f"{cid}.{_ENDINGS[self.form]}")


def wanted(query: ReadBlock, accept: str | None) -> Wanted:
    """Return the requested format. The query's `format` and CAR parameters override the Accept header.

    Raises:
        SnapshotRefused: BAD_REQUEST for no form at all or a malformed parameter, NOT_ACCEPTABLE for another form.
    """
    accepted = _accepted(accept)
    if query.format is not None:
        form = _FORMATS.get(query.format)
        if form is None:
            raise SnapshotRefused(NOT_ACCEPTABLE)
        first = next((parameters for named, parameters in accepted if named is form), {})
        return _wanted(form, query, first, overruled=bool(accepted) and accepted[0][0] is not form)
    if not accepted:
        raise SnapshotRefused(BAD_REQUEST, "name the form: format=raw, format=car, or an Accept header with its type")
    for form, parameters in accepted:
        try:
            return replace(_wanted(form, query, parameters), from_accept=True)
        except SnapshotRefused as refused:
            if refused.row is not NOT_ACCEPTABLE:
                raise
    raise SnapshotRefused(NOT_ACCEPTABLE, _CAR_FORMS)


def _wanted(form: Form, query: ReadBlock, parameters: Mapping[str, str], *, overruled: bool = False) -> Wanted:
    entity = _entity_bytes(query)
    if form is not Form.CAR:
        return Wanted(form, entity_bytes=entity, overruled=overruled)
    dups = _car_parameters(query, parameters)
    scope = "entity" if entity else query.dag_scope or "all"
    if scope not in {"block", "entity", "all"}:
        raise SnapshotRefused(BAD_REQUEST, "dag-scope: block, entity or all")
    overruled = overruled or (query.car_dups or "") != parameters.get("dups", query.car_dups or "")
    return Wanted(form, dups=dups, scope=scope, entity_bytes=entity, overruled=overruled)


def identity_car(cid: str) -> bytes | None:
    """Return the CAR file for an identity CID: only a header, because the CID itself contains the data.

    None for any other CID.
    """
    if not cid.startswith(_IDENTITY_TEXT) or len(cid) > _MAX_IDENTITY:
        return None
    try:
        found = from_multibase(cid)
        size = varints.decode(found, len(_IDENTITY), _MAX_VARINT_BYTES)
    except ValueError:
        return None
    if not found.startswith(_IDENTITY) or size is None or size[0] != len(found) - size[1]:
        return None
    header = encode({"roots": [Link(found)], "version": 1})
    return varints.encode(len(header)) + header


def byte_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the start and end of the single requested byte range, or None for the whole content (RFC 9110, 14.2).

    Raises ValueError if the range is beyond the end.
    """
    found = _RANGE.fullmatch(header.replace(" ", "")) if header else None
    if found is None or found[0] == "bytes=-":
        return None
    first, last = found[1], found[2]
    if not first:
        begin, end = max(0, size - int(last)), size
        if int(last) == 0:
            raise ValueError("an empty range")
    else:
        begin, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < begin:
            return None
    if begin >= size:
        raise ValueError("a range beyond the end")
    return begin, end


def attachment(given: str, otherwise: str) -> str:
    """Return the Content-Disposition that makes a browser save a file and never display it (RFC 6266).

    The file is named `otherwise`, which has only safe characters, unless the name that the client gives has an ending
    of IPFS.
    """
    if len(given) > _MAX_FILENAME or not _NAME.fullmatch(given):
        return f'attachment; filename="{otherwise}"'
    plain = given.translate(_NOT_IN_NAMES)
    plain = plain if plain.isprintable() else "".join(c for c in plain if c.isprintable())
    if plain.isascii():
        return f'attachment; filename="{plain}"'
    ascii_only = "".join(c if c.isascii() else "_" for c in plain)
    return f"attachment; filename=\"{ascii_only}\"; filename*=UTF-8''{quote(plain.encode('utf-8', 'replace'), safe='')}"


def _accepted(accept: str | None) -> list[tuple[Form, dict[str, str]]]:
    """Return the formats in Accept with their parameters, the most wanted first (RFC 9110, section 12.5.1).

    `*/*`, many clients' default, selects no format.
    """
    if not accept or accept == "*/*":
        return []
    found = []
    for entry in listed(accept):
        media, *given = (piece.strip() for piece in entry.split(";", _MAX_MEDIA_PARAMETERS))
        if media.lower() in _MEDIA:
            pairs = [piece.partition("=") for piece in given]
            parameters = {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}
            found.append((_weight(parameters.pop("q", "1")), Form(media.lower()), parameters))
    found.sort(key=lambda row: -row[0])
    return [(form, parameters) for weight, form, parameters in found if weight]


def _weight(text: str) -> int:
    """Return a weight in thousandths; a malformed one counts as 1."""
    if not _WEIGHT.fullmatch(text):
        return 1000
    whole, _, fraction = text.partition(".")
    return int(whole) * 1000 + int(fraction.ljust(3, "0"))


def _car_parameters(query: ReadBlock, parameters: Mapping[str, str]) -> bool:
    """Return whether blocks are repeated. Raises SnapshotRefused for an unsupported version or order."""
    version = query.car_version or parameters.get("version", "1")
    order = query.car_order or parameters.get("order", "dfs")
    dups = query.car_dups or parameters.get("dups", "n")
    if version != "1" or order not in {"dfs", "unk"} or dups not in {"y", "n"}:
        raise SnapshotRefused(NOT_ACCEPTABLE, _CAR_FORMS)
    return dups == "y"


def _entity_bytes(query: ReadBlock) -> str:
    text = query.entity_bytes or ""
    if text and not _ENTITY.fullmatch(text):
        raise SnapshotRefused(BAD_REQUEST, "entity-bytes: FROM:TO in whole numbers, TO may be *")
    return text
