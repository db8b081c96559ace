"""Three minimal applications for measuring Granian's best rates for 100 KB responses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

FOLDER = os.environ.get("BENCH_FOLDER", ".")
HEADERS = [("content-type", "application/vnd.ipld.raw")]
_SIZES = {f"/{file.name}": file.stat().st_size for file in Path(FOLDER).iterdir() if file.is_file()}
_LARGEST = max(_SIZES.values(), default=0)
_SAME = bytes(_LARGEST)


async def same(_scope: Any, protocol: Any) -> None:
    """Send the same bytes for every request, through Granian's own interface (RSGI)."""
    protocol.response_bytes(200, HEADERS, _SAME)


async def read(scope: Any, protocol: Any) -> None:
    """Read the requested file in the event loop and send it, which is less work than any real service does."""
    if scope.path not in _SIZES:
        protocol.response_empty(_status(scope.path), HEADERS)
        return
    descriptor = os.open(FOLDER + scope.path, os.O_RDONLY)
    data = os.read(descriptor, _LARGEST)
    os.close(descriptor)
    protocol.response_bytes(200, HEADERS, data)


async def path(scope: Any, _receive: Any, send: Any) -> None:
    """Let the server send the requested file, through the ASGI extension `http.response.pathsend`."""
    if scope["type"] != "http":
        return
    size = _SIZES.get(scope["path"], 0)
    headers = [(b"content-length", b"%d" % size), *((name.encode(), value.encode()) for name, value in HEADERS)]
    await send({"type": "http.response.start", "status": _status(scope["path"]), "headers": headers})
    if size:
        await send({"type": "http.response.pathsend", "path": FOLDER + scope["path"]})
    else:
        await send({"type": "http.response.body", "body": b""})


def _status(path: str) -> int:
    return 200 if path in _SIZES or path == "/healthz" else 404
