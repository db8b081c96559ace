"""Checks JSON-RPC requests of clients, and writes them anew so that all readers understand the same request."""

from __future__ import annotations

import json
from typing import Any

from holdfast.rules.allowlists import BUNDLER_METHODS
from holdfast.wire.errors import INVALID_JSON_RPC, RPC_METHOD_NOT_ALLOWED, Refused

_IDS = (str, int, float, type(None))
_PARAMS = (list, dict)


def parse_request(body: bytes) -> tuple[str, bytes]:
    """Return the method of one allowed request, and the request written anew.

    Only `jsonrpc`, `id`, `method` and `params` are written, each once. Of duplicate keys some readers take the last
    one, and others ignore case, so that a second `METHOD` could replace the method that was checked here.

    Raises:
        Refused: INVALID_JSON_RPC (JSON-RPC 2.0, section 4; no batches), RPC_METHOD_NOT_ALLOWED.
    """
    try:
        request = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refused(INVALID_JSON_RPC) from None
    if type(request) is not dict or type(request.get("method")) is not str:
        raise Refused(INVALID_JSON_RPC)
    if request["method"] not in BUNDLER_METHODS:
        raise Refused(RPC_METHOD_NOT_ALLOWED)
    return request["method"], _written(request)


def _written(request: dict[str, Any]) -> bytes:
    if type(request.get("id")) not in _IDS or type(request.get("params", [])) not in _PARAMS:
        raise Refused(INVALID_JSON_RPC)
    anew = {"jsonrpc": "2.0"} | {name: request[name] for name in ("id", "method", "params") if name in request}
    try:
        return json.dumps(anew, allow_nan=False).encode()  # 1e999 is read as infinity, which JSON cannot express
    except (ValueError, RecursionError):
        raise Refused(INVALID_JSON_RPC) from None


def _refuse_constant(_name: str) -> Any:
    raise ValueError("NaN and Infinity are no JSON")
