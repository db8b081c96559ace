"""The ID of the request, or of the background job's run, on whose behalf the current code is running.

The ID is a context variable, which the tasks that a request starts and the threads of `asyncio.to_thread` inherit.
Every log line about a request therefore contains the request's ID, even a line from code that knows nothing about
requests.
"""

from __future__ import annotations

import os
from contextvars import ContextVar

MAX_REQUEST_ID = 128
REQUEST_ID: ContextVar[str] = ContextVar("holdfast_request_id", default="")
_DRAWN_AT_ONCE = 256
_ids: list[str] = []  # one system call for each would cost more than the routing


def is_well_formed(text: str) -> bool:
    """Return whether a text is a valid request ID: 1 to 128 visible ASCII characters."""
    return 0 < len(text) <= MAX_REQUEST_ID and text.isascii() and text.isprintable() and " " not in text


def draw_request_id() -> str:
    """Return a new random ID of 16 hexadecimal digits."""
    if not _ids:
        digits = os.urandom(8 * _DRAWN_AT_ONCE).hex()
        _ids.extend(digits[start : start + 16] for start in range(0, len(digits), 16))
    return _ids.pop()


os.register_at_fork(after_in_child=_ids.clear)  # otherwise two processes would generate the same IDs
