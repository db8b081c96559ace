"""A server's ceiling: the same fixed response to all requests, on each server on which Holdfast runs.

The response is one that the service sent: status 200, its headers and its body, so that both send the same bytes.
"""

from __future__ import annotations

import json
import os
from typing import Any

BODY = os.environ.get("BENCH_BODY", "{}").encode()
HEADERS = [(name, value) for name, value in json.loads(os.environ.get("BENCH_HEADERS", "[]"))]
_ASGI_HEADERS = [(name.encode(), value.encode()) for name, value in [*HEADERS, ("content-length", str(len(BODY)))]]
_START = {"type": "http.response.start", "status": 200, "headers": _ASGI_HEADERS}
_BODY = {"type": "http.response.body", "body": BODY}


async def rsgi(_scope: Any, protocol: Any) -> None:
    """Respond through Granian's own interface."""
    protocol.response_bytes(200, HEADERS, BODY)


async def asgi(scope: Any, receive: Any, send: Any) -> None:
    """The ASGI application. It reads request bodies, as endpoints with a body must."""
    if scope["type"] != "http":
        return
    if scope["method"] == "POST":
        await receive()
    await send(_START)
    await send(_BODY)
