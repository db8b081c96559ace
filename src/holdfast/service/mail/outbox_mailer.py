"""The development outbox: messages become files that only their owner reads, and the log shows the code."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from typing import TYPE_CHECKING

from holdfast.service.mail.code_mail import compose, recipient_address, render
from holdfast.service.store.port import DeliveryError

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.service.mail.code_mail import Letterhead

log = logging.getLogger("holdfast.outbox")


class OutboxMailer:
    """Mailer that writes `.eml` files. For development: whoever can read the folder or the log can use the code."""

    def __init__(self, folder: Path, head: Letterhead) -> None:
        self._folder = folder
        self._head = head

    async def send_code(self, recipient: str, code: str, lifetime_s: int) -> None:
        """Write the mail to a new file. Raises DeliveryError."""
        try:
            message = compose(self._head, recipient_address(recipient), render(self._head, code, lifetime_s))
        except ValueError:
            raise DeliveryError("refused", "no mail can be written to this address") from None
        file = await put(self._folder, ".eml", message.as_bytes())
        log.info("e-mail code %s (development outbox: %s)", code, file)

    async def check(self) -> str:
        """Make the folder. Raises DeliveryError."""
        return await checked(self._folder)

    async def close(self) -> None:
        """Nothing to let go of."""


async def put(folder: Path, suffix: str, content: bytes) -> Path:
    """A new file with this content; names sort by time and tell nothing. Raises DeliveryError."""
    try:
        return await asyncio.to_thread(_put, folder, suffix, content)
    except OSError as error:
        raise DeliveryError("unreachable", f"the outbox cannot be written ({error.strerror})") from None


async def checked(folder: Path) -> str:
    """One line about the folder, which exists afterwards. Raises DeliveryError."""
    try:
        await asyncio.to_thread(ensure_private, folder)
    except OSError as error:
        raise DeliveryError("unreachable", f"the outbox cannot be made ({error.strerror})") from None
    return f"development outbox in {folder}: nothing is delivered"


def ensure_private(folder: Path) -> None:
    """Make the folder, or take everybody else's rights to it away. Raises OSError."""
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
