"""Checks which of the clients' JSON-RPC requests may be forwarded to the bundler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.allowlists import BUNDLER_METHODS
from holdfast.wire.errors import INVALID_JSON_RPC, RPC_METHOD_NOT_ALLOWED, Refused

if TYPE_CHECKING:
    from collections.abc import Collection

    from holdfast.wire.requests import CallBundler

_MAX_ID_BYTES = 1024


_decode_id = msgspec.json.Decoder(str | int | float | None).decode


def written_anew(request: CallBundler, methods: Collection[str] = BUNDLER_METHODS) -> bytes:
    """Return the JSON of a single allowed request.

    Only `jsonrpc`, `id`, `method` and `params` are written, each once. Some JSON parsers use the first of two equal
    names, and others ignore case. If a request had a second `method` or a `METHOD`, such parsers would execute a method
    other than the one that was checked.

    Raises:
        Refused: RPC_METHOD_NOT_ALLOWED, INVALID_JSON_RPC (JSON-RPC 2.0, section 4).
    """
    if request.method not in methods:
        raise Refused(RPC_METHOD_NOT_ALLOWED)
    return b"".join((b'{"jsonrpc": "2.0"', *_members(request), b"}"))


def _members(request: CallBundler) -> list[bytes]:
    """Return the request's members. Raises Refused(INVALID_JSON_RPC) for another type than JSON-RPC 2.0 allows."""
    parts = [b', "method": ', msgspec.json.encode(request.method)]
    if request.id is not msgspec.UNSET:
        parts = [b', "id": ', _checked_id(request.id), *parts]
    if request.params is not msgspec.UNSET:
        params = bytes(request.params)
        if params[:1] not in {b"[", b"{"}:
            raise Refused(INVALID_JSON_RPC)
        parts += [b', "params": ', params]
    return parts


def _checked_id(given: msgspec.Raw) -> bytes:
    try:
        if len(given) <= _MAX_ID_BYTES:
            _decode_id(given)
            return bytes(given)
    except msgspec.DecodeError:
        pass
    raise Refused(INVALID_JSON_RPC)
