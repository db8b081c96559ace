"""A server's ceiling: one answer, fixed beforehand, to every request, for each server that Holdfast runs on.

The answer is one that the service gave: status 200, its headers and its body, so that both send the same bytes.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from holdfast.service.http_server.process import listening_sockets, run
from holdfast.service.web.http import FixedHeaders, Response

BODY = os.environ.get("BENCH_BODY", "{}").encode()
HEADERS = [(name, value) for name, value in json.loads(os.environ.get("BENCH_HEADERS", "[]"))]
_ASGI_HEADERS = [(name.encode(), value.encode()) for name, value in [*HEADERS, ("content-length", str(len(BODY)))]]
_START = {"type": "http.response.start", "status": 200, "headers": _ASGI_HEADERS}
_BODY = {"type": "http.response.body", "body": BODY}


async def rsgi(_scope: Any, protocol: Any) -> None:
    """Granian's own interface."""
    protocol.response_bytes(200, HEADERS, BODY)


async def asgi(scope: Any, receive: Any, send: Any) -> None:
    """What uvicorn speaks; bodies are read, as the endpoints that take one must."""
    if scope["type"] != "http":
        return
    if scope["method"] == "POST":
        await receive()
    await send(_START)
    await send(_BODY)


class Builtin:
    """What Holdfast's own server calls."""

    _answer = Response(200, FixedHeaders(HEADERS), BODY)

    async def start(self) -> None:
        """Nothing to open."""

    async def stop(self) -> None:
        """Nothing to close."""

    async def respond(self, _request: Any) -> Response:
        """The one answer."""
        return self._answer


if __name__ == "__main__":
    run(Builtin, listening_sockets("127.0.0.1", int(sys.argv[1])), 1.0)
