"""The sponsor's budgets in the embedded store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.sponsoring import Held, Spent, first_full, largest
from holdfast.service.store.sponsorships import Full, OpenSponsorship, SponsorshipKey
from holdfast.service.store.sqlite.standing import INDEXED, IS_REGISTERED, of_did

if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection

    from holdfast.service.store.sponsorships import NewSponsorship
    from holdfast.service.store.sqlite.reader import TurnReader
    from holdfast.service.store.sqlite.writer import GroupCommitWriter

SPONSOR_TABLES = """
    -- What was approved and not settled yet. `subjects`: lines.
    CREATE TABLE sponsorships (
        chain INTEGER NOT NULL,
        sender TEXT NOT NULL,
        nonce TEXT NOT NULL,
        day INTEGER NOT NULL,
        gwei INTEGER NOT NULL,
        subjects TEXT NOT NULL,
        valid_until INTEGER NOT NULL,
        block INTEGER NOT NULL,
        PRIMARY KEY (chain, sender, nonce)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sponsorships_end ON sponsorships (chain, valid_until);

    -- What is spent and reserved on a day (UTC), in gwei.
    CREATE TABLE sponsor_days (
        chain INTEGER NOT NULL,
        day INTEGER NOT NULL,
        subject TEXT NOT NULL,
        gwei INTEGER NOT NULL,
        PRIMARY KEY (chain, day, subject)
    ) STRICT, WITHOUT ROWID;
"""
SPONSOR_TABLE_NAMES = ("sponsorships", "sponsor_days")
_KEY = "chain = ? AND sender = ? AND nonce = ?"
_HOLDS = f"SELECT 1 FROM identifiers WHERE {INDEXED} AND {of_did('did')} LIMIT 1"  # noqa: S608 - our own


class SqliteSponsorships:
    """Implements SponsorshipStore."""

    def __init__(self, read: TurnReader, writer: GroupCommitWriter) -> None:
        self._read, self._writer = read, writer

    async def knows(self, did: str) -> bool:
        """See SponsorshipStore."""
        return any(self._read.one(statement, did) is not None for statement in (IS_REGISTERED, _HOLDS))

    async def reserve(self, new: NewSponsorship) -> Full | None:
        """See SponsorshipStore."""
        return await self._writer.write(_reserve, new)

    async def open_sponsorships(self, chain: int, limit: int, sender: str | None = None) -> list[OpenSponsorship]:
        """See SponsorshipStore."""
        whose, of = ("", ()) if sender is None else (" AND sender = ?", (sender,))
        rows = self._read.all(
            "SELECT chain, sender, nonce, gwei, valid_until, block FROM sponsorships"  # noqa: S608 - our own condition
            f" WHERE chain = ?{whose} ORDER BY valid_until LIMIT ?",
            *(chain, *of, limit),
        )
        return [opened(row) for row in rows]

    async def settle(self, key: SponsorshipKey, valid_until: int, gwei: int) -> bool:
        """See SponsorshipStore."""
        return await self._writer.write(_settle, key, valid_until, gwei)

    async def spent(self, chain: int, day: int) -> list[Spent]:
        """See SponsorshipStore."""
        rows = self._read.all(
            "SELECT subject, gwei FROM sponsor_days WHERE chain = ? AND day = ? ORDER BY subject", chain, day
        )
        return [Spent(*row) for row in rows]

    async def forget(self, before_day: int) -> None:
        """See SponsorshipStore."""
        await self._writer.write(_forget, before_day)


def opened(row: tuple[int, str, str, int, int, int]) -> OpenSponsorship:
    """Return the value of a row: key, gwei, valid_until, block."""
    return OpenSponsorship(key=SponsorshipKey(*row[:3]), gwei=row[3], valid_until=row[4], block=row[5])


def _reserve(connection: Connection, new: NewSponsorship) -> Full | None:
    spent = {budget.subject: _spent(connection, new, budget.subject) for budget in new.budgets}
    before = _row(connection, new.key)
    held = None if before is None else before[0]
    index = first_full(spent, new.budgets, new.day, new.gwei, held)
    if index is not None:
        return Full(index, spent[new.budgets[index].subject])
    gwei, subjects = largest(new.gwei, held), [budget.subject for budget in new.budgets]
    until, block = new.valid_until, new.block
    if before is not None:
        _add(connection, new.key.chain, before[0].day, before[0].subjects, -before[0].gwei)
        subjects, until, block = [*{*subjects, *before[0].subjects}], max(until, before[1]), min(block, before[2])
    _add(connection, new.key.chain, new.day, subjects, gwei)
    connection.execute(
        "INSERT OR REPLACE INTO sponsorships VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*new.key, new.day, gwei, "\n".join(sorted(subjects)), until, block),
    )
    return None


def _spent(connection: Connection, new: NewSponsorship, subject: str) -> int:
    statement = "SELECT gwei FROM sponsor_days WHERE chain = ? AND day = ? AND subject = ?"
    row = connection.execute(statement, (new.key.chain, new.day, subject)).fetchone()
    return 0 if row is None else int(row[0])


def _settle(connection: Connection, key: SponsorshipKey, valid_until: int, gwei: int) -> bool:
    row = _row(connection, key)
    if row is None or row[1] != valid_until:
        return False
    _add(connection, key.chain, row[0].day, row[0].subjects, gwei - row[0].gwei)
    connection.execute(f"DELETE FROM sponsorships WHERE {_KEY}", key)  # noqa: S608 - our own condition
    return True


def _row(connection: Connection, key: SponsorshipKey) -> tuple[Held, int, int] | None:
    row = connection.execute(
        f"SELECT day, gwei, subjects, valid_until, block FROM sponsorships WHERE {_KEY}",  # noqa: S608 - our own condition
        key,
    ).fetchone()
    return None if row is None else (Held(row[0], row[1], row[2].split("\n")), row[3], row[4])


def _add(connection: Connection, chain: int, day: int, subjects: Iterable[str], gwei: int) -> None:
    connection.executemany(
        "INSERT INTO sponsor_days VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET gwei = gwei + excluded.gwei",
        [(chain, day, subject, gwei) for subject in subjects],
    )


def _forget(connection: Connection, before_day: int) -> None:
    connection.execute("DELETE FROM sponsor_days WHERE day < ?", (before_day,))
