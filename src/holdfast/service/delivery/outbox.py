"""The development outbox: messages are written to files that only their owner can read; the log shows the code."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from typing import TYPE_CHECKING

from holdfast.service.delivery.errors import DeliveryError

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger("holdfast.outbox")


async def put(folder: Path, suffix: str, content: bytes) -> Path:
    """Write a new file with this content. File names sort by time and do not reveal the recipient.

    Raises DeliveryError.
    """
    try:
        return await asyncio.to_thread(_put, folder, suffix, content)
    except OSError as error:
        raise DeliveryError("unreachable", f"the outbox cannot be written ({error.strerror})") from None


async def checked(folder: Path) -> str:
    """Create the outbox folder and return one line that describes it. Raises DeliveryError."""
    try:
        await asyncio.to_thread(ensure_private, folder)
    except OSError as error:
        raise DeliveryError("unreachable", f"the outbox cannot be made ({error.strerror})") from None
    return f"development outbox in {folder}: nothing is delivered"


def ensure_private(folder: Path) -> None:
    """Create the folder for its owner only; if it exists, remove other users' permissions. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def _put(folder: Path, suffix: str, content: bytes) -> Path:
    ensure_private(folder)
    now = time.time_ns()
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 10**9)) + f".{now % 10**9:09}Z"
    file = folder / f"{stamp}-{secrets.token_hex(4)}{suffix}"
    partial = file.with_suffix(".partial")
    with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as stream:
        stream.write(content)
    return partial.rename(file)
