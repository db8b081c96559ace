"""Tells a person who waits for a server, and which: as a log record of level `info`, which commands print."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW_S = 5.0
log = logging.getLogger("holdfast.waiting")


@contextmanager
def slow_is_told(url: str) -> Iterator[None]:
    """Say which host has not answered, if that takes longer than SLOW_S. The rest of a URL may contain an API key."""
    host = urlsplit(url).netloc.rpartition("@")[2]
    timer = asyncio.get_running_loop().call_later(SLOW_S, log.info, "%s has not answered yet: waiting for it", host)
    try:
        yield
    finally:
        timer.cancel()
