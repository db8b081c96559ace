"""The ERC-4337 bundler behind POST /api/bundler."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.rules.allowlists import BUNDLER_METHODS
from holdfast.service.upstreams.proxy import UpstreamError, fetch
from holdfast.wire.errors import (
    BUNDLER_ERROR,
    BUNDLER_NOT_CONFIGURED,
    INVALID_JSON_RPC,
    RPC_METHOD_NOT_ALLOWED,
    Refused,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


@dataclass(frozen=True, slots=True)
class Bundler:
    """Forwards the allowed methods."""

    url: str | None
    session: Callable[[], aiohttp.ClientSession]

    async def forward(self, body: bytes) -> bytes:
        """The bundler's answer to a JSON-RPC request. Raises Refused.

        What is forwarded is the parsed object written anew: a duplicate key cannot show the bundler another method
        than the one that was checked.
        """
        request = rewritten(body)
        if self.url is None:
            raise Refused(BUNDLER_NOT_CONFIGURED)
        try:
            answer = await fetch(self.session, "POST", self.url, _HEADERS, request)
            json.loads(answer.body)
        except (UpstreamError, ValueError, RecursionError):
            raise Refused(BUNDLER_ERROR) from None
        return answer.body


def rewritten(body: bytes) -> bytes:
    """One allowed JSON-RPC request, written anew. Raises Refused(INVALID_JSON_RPC), Refused(RPC_METHOD_NOT_ALLOWED)."""
    try:
        request = json.loads(body, parse_constant=_refuse_constant)
        written = json.dumps(request, allow_nan=False).encode()  # 1e999 reads as infinity, which no JSON can say
    except (ValueError, RecursionError):
        raise Refused(INVALID_JSON_RPC) from None
    if type(request) is not dict or type(request.get("method")) is not str:
        raise Refused(INVALID_JSON_RPC)
    if request["method"] not in BUNDLER_METHODS:
        raise Refused(RPC_METHOD_NOT_ALLOWED)
    return written


def _refuse_constant(_name: str) -> Any:
    raise ValueError("NaN and Infinity are no JSON")
