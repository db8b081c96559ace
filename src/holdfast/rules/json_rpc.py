"""Checks which of the clients' JSON-RPC requests may be forwarded to the bundler."""

from __future__ import annotations

import msgspec

from holdfast.rules.allowlists import BUNDLER_METHODS
from holdfast.wire.errors import INVALID_JSON_RPC, RPC_METHOD_NOT_ALLOWED, Refused

_MAX_ID_BYTES = 1024


class _Request(msgspec.Struct):
    """A request object. Its parameters are only checked for being JSON: decoding half a megabyte takes too long."""

    method: str
    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(_Request).decode
_decode_id = msgspec.json.Decoder(str | int | float | None).decode


def parse_request(body: bytes) -> tuple[str, bytes]:
    """Return the method of a single allowed request, and the request, written anew.

    Only `jsonrpc`, `id`, `method` and `params` are written, each once. Some JSON parsers use the first of two equal
    names, and others ignore case. If a request had a second `method` or a `METHOD`, such parsers would execute a method
    other than the one that was checked.

    Raises:
        Refused: INVALID_JSON_RPC (JSON-RPC 2.0, section 4; no batches), RPC_METHOD_NOT_ALLOWED.
    """
    try:
        body.decode()  # the parameters are not decoded, so nothing else would notice bytes that are no UTF-8
        request = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(INVALID_JSON_RPC) from None
    if request.method not in BUNDLER_METHODS:
        raise Refused(RPC_METHOD_NOT_ALLOWED)
    return request.method, b"".join((b'{"jsonrpc": "2.0"', *_written(request), b"}"))


def _written(request: _Request) -> list[bytes]:
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
