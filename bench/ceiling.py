"""An application that sends one fixed response, to find the highest rate of each HTTP server that Holdfast runs on.

The response is a copy of one from the service (status 200, headers, body), so both send the same bytes.
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
    """Respond as an ASGI application, after reading the request body as real endpoints must."""
    if scope["type"] != "http":
        return
    if scope["method"] == "POST":
        await receive()
    await send(_START)
    await send(_BODY)
