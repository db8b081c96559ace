"""SMS in development: makes codes of its own, writes them to the outbox, and checks them across processes."""

from __future__ import annotations

import asyncio
import hmac
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from holdfast.service.delivery import outbox
from holdfast.service.delivery.errors import DeliveryError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")
LIFETIME_S = 600
MAX_ATTEMPTS = 5
KEY_BYTES = 32
BOOK = "sms-codes.db"
_SCHEMA = """
create table if not exists secret (id integer primary key check (id = 1), key blob not null) strict;
create table if not exists code (
    phone blob primary key, digest blob not null, expires_at real not null, attempts integer not null
) strict;
"""


class OutboxSmsVerifier:
    """SmsVerifier that writes `.txt` files. For development: whoever can read the folder or the log has the code."""

    def __init__(self, folder: Path, clock: Callable[[], float], entropy: Callable[[int], bytes]) -> None:
        self._folder = folder
        self._clock = clock
        self._entropy = entropy

    async def start(self, phone: str) -> None:
        """Write a fresh code to a new file; it replaces an older one. Raises DeliveryError."""
        code = f"{int.from_bytes(self._entropy(16)) % 10**6:06}"
        await self._in_thread(self._remember, phone, code)
        file = await outbox.put(self._folder, ".txt", f"To: {phone}\n\nYour code is {code}\n".encode())
        outbox.log.info("SMS code %s (development outbox: %s)", code, file)

    async def check_code(self, phone: str, code: str) -> bool:
        """Whether this is the code. Every try counts, and the right one uses the code up. Raises DeliveryError."""
        return await self._in_thread(self._matches, phone, code)

    async def check(self) -> str:
        """Make the folder. Raises DeliveryError."""
        return await outbox.checked(self._folder)

    async def close(self) -> None:
        """Nothing to let go of."""

    async def _in_thread(self, work: Callable[[str, str], T], phone: str, code: str) -> T:
        try:
            return await asyncio.to_thread(work, phone, code)
        except (OSError, sqlite3.Error):
            raise DeliveryError("unreachable", f"{BOOK} in the outbox cannot be used") from None

    def _remember(self, phone: str, code: str) -> None:
        now = self._clock()
        with closing(self._book()) as book:
            key = self._key(book)
            row = (_digest(key, phone), _digest(key, phone, code), now + LIFETIME_S)
            book.execute("delete from code where expires_at <= ?", (now,))
            book.execute("insert or replace into code values (?, ?, ?, 0)", row)

    def _matches(self, phone: str, code: str) -> bool:
        """The attempt is committed before anything is compared, and of two right ones at once only one counts."""
        with closing(self._book()) as book:
            key = self._key(book)
            owner = _digest(key, phone)
            found = book.execute(
                "update code set attempts = attempts + 1 where phone = ? and attempts < ? and expires_at > ?"
                " returning digest",
                (owner, MAX_ATTEMPTS, self._clock()),
            ).fetchall()
            if not found or not hmac.compare_digest(found[0][0], _digest(key, phone, code)):
                return False
            return book.execute("delete from code where phone = ? and digest = ?", (owner, found[0][0])).rowcount == 1

    def _book(self) -> sqlite3.Connection:
        """The codes' own little database: its locks hold between processes, on every platform."""
        outbox.ensure_private(self._folder)
        file = self._folder / BOOK
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite itself would follow the umask
        book = sqlite3.connect(file, timeout=5, isolation_level=None)
        book.executescript(_SCHEMA)
        return book

    def _key(self, book: sqlite3.Connection) -> bytes:
        """The key of the hashes, made by whichever process is first."""
        book.execute("insert or ignore into secret values (1, ?)", (self._entropy(KEY_BYTES),))
        key: bytes = book.execute("select key from secret").fetchone()[0]
        return key


def _digest(key: bytes, *parts: str) -> bytes:
    """Keyed hash of the parts, each bounded by its length."""
    encoded = [part.encode(errors="surrogatepass") for part in parts]
    framed = b"".join(len(part).to_bytes(4) + part for part in encoded)
    return hmac.digest(key, framed, "sha256")
