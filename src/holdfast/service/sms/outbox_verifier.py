"""The SMS verifier for development: generates codes, writes them to the outbox, and checks them in any process."""

from __future__ import annotations

import asyncio
import hmac
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from holdfast.service.delivery import outbox
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.sms.texts import message_of

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
    """An SmsVerifier that writes `.txt` files. Anyone who can read the folder or the log can use the codes."""

    same_code_s = 0.0

    def __init__(
        self, folder: Path, clock: Callable[[], float], entropy: Callable[[int], bytes], host: str = ""
    ) -> None:
        self._folder = folder
        self._host = host
        self._clock = clock
        self._entropy = entropy

    async def start(self, phone: str) -> None:
        """Write a new code to a new file; the code invalidates earlier ones. Raises DeliveryError."""
        code = f"{int.from_bytes(self._entropy(16)) % 10**6:06}"
        await self._in_thread(self._remember, phone, code)
        file = await outbox.put(self._folder, ".txt", f"To: {phone}\n\n{message_of(code, self._host)}".encode())
        outbox.log.info("SMS code %s (development outbox: %s)", code, file)

    async def check_code(self, phone: str, code: str) -> bool:
        """Return whether the code is correct. Each attempt is counted; a correct code is consumed.

        Raises DeliveryError.
        """
        return await self._in_thread(self._matches, phone, code)

    async def check(self) -> str:
        """Create the outbox folder. Raises DeliveryError."""
        return await outbox.checked(self._folder)

    async def close(self) -> None:
        """Do nothing, because nothing is open."""

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
        """Return whether the code is correct.

        The attempt is committed first, and of two simultaneous attempts only one can succeed.
        """
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
        """Open the SQLite file of codes. SQLite's locks work between processes on every platform."""
        outbox.ensure_private(self._folder)
        file = self._folder / BOOK
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite itself would apply the umask
        book = sqlite3.connect(file, timeout=5, isolation_level=None)
        book.executescript(_SCHEMA)
        return book

    def _key(self, book: sqlite3.Connection) -> bytes:
        """Return the key that hashes codes, which the first process generates."""
        book.execute("insert or ignore into secret values (1, ?)", (self._entropy(KEY_BYTES),))
        key: bytes = book.execute("select key from secret").fetchone()[0]
        return key


def _digest(key: bytes, *parts: str) -> bytes:
    """Return the keyed hash of the parts, each preceded by its length."""
    encoded = [part.encode(errors="surrogatepass") for part in parts]
    framed = b"".join(len(part).to_bytes(4) + part for part in encoded)
    return hmac.digest(key, framed, "sha256")
