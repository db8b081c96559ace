"""Checks which of the clients' JSON-RPC requests may be forwarded to the bundler."""

from __future__ import annotations

from holdfast.rules.allowlists import BUNDLER_METHODS
from holdfast.wire.errors import INVALID_JSON_RPC, RPC_METHOD_NOT_ALLOWED, Refused
from holdfast.wire.json_rpc import MalformedRequest, request_of


def parse_request(body: bytes) -> tuple[str, bytes]:
    """Return the method of a single allowed request, and the request, serialised again.

    Raises:
        Refused: INVALID_JSON_RPC (JSON-RPC 2.0, section 4; no batches), RPC_METHOD_NOT_ALLOWED.
    """
    try:
        request = request_of(body)
        if request.method not in BUNDLER_METHODS:
            raise Refused(RPC_METHOD_NOT_ALLOWED)
        return request.method, request.written_anew()
    except MalformedRequest:
        raise Refused(INVALID_JSON_RPC) from None
