"""Converts paths and query strings to arguments for the store.

Every function in this module raises Refused for invalid input.
"""

from __future__ import annotations

import re
import struct
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from holdfast.indexer import refusals
from holdfast.indexer.events import KIND_NAMES
from holdfast.indexer.queries import LISTS, ListQuery, Value
from holdfast.rules.dids import parse_did
from holdfast.wire.encoding import from_base64url, to_base64url
from holdfast.wire.errors import ErrorRow, Refused
from holdfast.wire.keccak import alias_hash, did_hash

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_LIMIT, MAX_LIMIT = 50, 200

_HASH = re.compile(r"0[xX]([0-9a-fA-F]{64})")
_ADDRESS = re.compile(r"0[xX]([0-9a-fA-F]{40})")
_BLOCK_NUMBER = re.compile(r"[0-9]{1,18}")  # fits into the databases' 63 bits
_LIMIT = re.compile(r"[0-9]{1,3}")
_ALIAS_UNFIT = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff]")
_MAX_ALIAS = 320  # the length of the service's longest identifier
_MAX_PARAMETERS = 16
_CURSOR = struct.Struct(">cqq")
_LIST_TAGS = {name: tag.to_bytes() for tag, name in enumerate(LISTS, 1)}


def did_key(text: str) -> bytes:
    """Return the hash of a DID given as text or as a hash."""
    if match := _HASH.fullmatch(text):
        return bytes.fromhex(match[1])
    try:
        return did_hash(parse_did(text))
    except Refused:
        raise Refused(refusals.INVALID_DID) from None


def alias_key(text: str) -> bytes:
    """Return the hash of an alias given as text (in upper or lower case) or as a hash."""
    if match := _HASH.fullmatch(text):
        return bytes.fromhex(match[1])
    if not 0 < len(text) <= _MAX_ALIAS or _ALIAS_UNFIT.search(text):
        raise Refused(refusals.INVALID_ALIAS)
    return alias_hash(text)


def address(text: str, row: ErrorRow = refusals.INVALID_ADDRESS) -> bytes:
    """Return the 20 bytes of a hexadecimal address in upper or lower case."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise Refused(row)
    return bytes.fromhex(match[1])


def list_query(name: str, query_string: bytes) -> ListQuery:
    """Return the query for the page of the list `name` that a query string requests."""
    given = parameters(query_string, [*LISTS[name].filters, *_PAGING])
    return ListQuery(
        name,
        tuple((key, _FILTERS[key](given[key])) for key in LISTS[name].filters if key in given),
        _block(given.get("from_block"), refusals.INVALID_FROM_BLOCK),
        _block(given.get("to_block"), refusals.INVALID_TO_BLOCK),
        _position(name, given.get("cursor")),
        _limit(given.get("limit")),
    )


def parameters(query_string: bytes, allowed: list[str]) -> dict[str, str]:
    """Return the parameters by name. Each parameter must be one of `allowed` and occur at most once."""
    if not query_string:
        return {}
    try:
        text = query_string.decode("ascii")
        pairs = parse_qsl(
            text, keep_blank_values=True, strict_parsing=True, max_num_fields=_MAX_PARAMETERS, errors="strict"
        )
    except ValueError:
        raise Refused(refusals.INVALID_QUERY) from None
    found: dict[str, str] = {}
    for key, value in pairs:
        if key not in allowed:
            raise refusals.unknown_parameter(allowed)
        if key in found:
            raise refusals.duplicate_parameter(key)
        found[key] = value
    return found


def below(query_string: bytes) -> int | None:
    """Return the block from which a page of transfers looks back; None: from the newest."""
    text = parameters(query_string, ["cursor"]).get("cursor")
    return _block(text, refusals.INVALID_CURSOR)


def cursor(name: str, block_number: int, log_index: int) -> str:
    """Return the cursor for the rows of the list `name` that follow this place in the chain."""
    return to_base64url(_CURSOR.pack(_LIST_TAGS[name], block_number, log_index))


def _position(name: str, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    try:
        tag, block_number, log_index = _CURSOR.unpack(from_base64url(text))
    except (ValueError, struct.error):
        raise Refused(refusals.INVALID_CURSOR) from None
    if tag != _LIST_TAGS[name] or block_number < 0 or log_index < 0:
        raise Refused(refusals.INVALID_CURSOR)
    return block_number, log_index


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    if not _LIMIT.fullmatch(text) or not 1 <= int(text) <= MAX_LIMIT:
        raise Refused(refusals.INVALID_LIMIT)
    return int(text)


def _block(text: str | None, row: ErrorRow) -> int | None:
    if text is None:
        return None
    if not _BLOCK_NUMBER.fullmatch(text):
        raise Refused(row)
    return int(text)


def _flag(text: str) -> int:
    if text not in _FLAGS:
        raise Refused(refusals.INVALID_ACTIVE)
    return _FLAGS[text]


def _kind(text: str) -> str:
    if text not in KIND_NAMES:
        raise Refused(refusals.INVALID_KIND)
    return text


_FLAGS = {"true": 1, "false": 0}
_PAGING = ("from_block", "to_block", "cursor", "limit")
_FILTERS: dict[str, Callable[[str], Value]] = {
    "did": did_key,
    "alias": alias_key,
    "controller": partial(address, row=refusals.INVALID_CONTROLLER),
    "owner": partial(address, row=refusals.INVALID_OWNER),
    "key_owner": partial(address, row=refusals.INVALID_KEY_OWNER),
    "account": address,
    "active": _flag,
    "kind": _kind,
}
