"""From a request to values: body, query and the names under which one field may come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote_plus

import msgspec

from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import MAX_BODY_BYTES
from holdfast.wire.errors import ErrorRow, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.service.web.http import Request

_decode = msgspec.json.Decoder().decode


async def json_object(request: Request) -> Mapping[str, Any]:
    """The body's fields; none at all when it is no JSON object, so that each counts as absent."""
    body = await request.body(MAX_BODY_BYTES)
    try:
        value = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if type(value) is dict else {}


def text_field(fields: Mapping[str, Any], *names: str) -> str | None:
    """The first of these fields that is a non-empty string."""
    for name in names:
        value = fields.get(name)
        if type(value) is str and value:
            return value
    return None


def require(row: ErrorRow, *values: str | None) -> tuple[str, ...]:
    """All the values, or Refused(row) when one is absent."""
    if None in values:
        raise Refused(row)
    return cast("tuple[str, ...]", values)


def query_values(query: str) -> dict[str, str]:
    """Parameters of a query string; of a repeated one the first, empty ones count as absent (WHATWG URL, get)."""
    found: dict[str, str] = {}
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if "%" in pair or "+" in pair:
            name, value = unquote_plus(name), unquote_plus(value)
        found.setdefault(name, value)
    return found if all(found.values()) else {name: value for name, value in found.items() if value}


def meant_plus(text: str, channel: Channel) -> str:
    """An identifier of a query as it was meant: in an address or number a space can only have been a plus sign."""
    if channel is Channel.HANDLE:
        return text
    if channel is Channel.EMAIL:
        return text.strip(" ").replace(" ", "+")
    return "+" + text[1:] if text.startswith(" ") else text
