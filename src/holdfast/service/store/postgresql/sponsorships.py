"""The sponsor's budgets in PostgreSQL. A database function applies the rule, under a lock for each chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.rules.shards import shard_of
from holdfast.rules.sponsoring import Spent
from holdfast.service.store.postgresql.batches import Kind
from holdfast.service.store.postgresql.texts import storable
from holdfast.service.store.postgresql.writes.arguments import call
from holdfast.service.store.sponsorships import Full, OpenSponsorship, SponsorshipKey

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from asyncpg import Record

    from holdfast.service.store.postgresql.batcher import Batcher
    from holdfast.service.store.sponsorships import NewSponsorship


# More gwei than there are. The gas limits of an operation may make its cost too large for a bigint.
_ALL_ETHER = 2**60


def _single(name: str, statement: str, *, repeatable: bool = False) -> Kind:
    return Kind(name, statement, lambda batch: batch[0], lambda _batch, rows: [rows], 1, repeatable)


def _reserved(batch: Sequence[NewSponsorship]) -> list[Any]:
    new = batch[0]
    subjects, limits = [budget.subject for budget in new.budgets], [budget.limit for budget in new.budgets]
    return [*_key_columns(new.key), new.day, min(new.gwei, _ALL_ETHER), subjects, limits, new.valid_until, new.block]


def _full(_batch: Sequence[Any], rows: list[Record]) -> list[Full | None]:
    return [Full(*rows[0]) if rows else None]


def _key_columns(key: SponsorshipKey) -> tuple[int, int, str, str]:
    return _shard(key.chain), *key


def _shard(chain: int) -> int:
    return shard_of(str(chain))


RESERVE = Kind(
    "reserve_sponsorship", call("reserve_sponsorship_v1", 10), _reserved, _full, 1, repeatable=True
)  # a repeat reserves for the same nonce
SETTLE = _single("settle_sponsorship", call("settle_sponsorship_v1", 6))
FORGET = _single(
    "forget_sponsored", "DELETE FROM holdfast.sponsor_days WHERE day > 0 AND day < $1 RETURNING 1", repeatable=True
)
OPEN = _single(
    "open_sponsorships",
    "SELECT chain, sender, nonce, gwei, valid_until, block FROM holdfast.sponsorships"
    " WHERE shard = $1 AND chain = $2 ORDER BY valid_until LIMIT $3",
    repeatable=True,
)
SPENT = _single(
    "sponsored_on",
    "SELECT subject, gwei FROM holdfast.sponsor_days WHERE shard = $1 AND chain = $2 AND day = $3 ORDER BY subject",
    repeatable=True,
)
KNOWS = _single(
    "knows_did",
    "SELECT 1 FROM holdfast.identifiers AS t WHERE right(t.did, 12) = right($1, 12) AND t.did = $1 LIMIT 1",
    repeatable=True,
)


class PostgresqlSponsorships:
    """Implements SponsorshipStore through the store's batches.

    `again` sends a write, and repeats it after a lost race.
    """

    def __init__(self, reads: Batcher, again: Callable[[Kind, Any], Awaitable[Any]]) -> None:
        self._reads, self._again = reads, again

    async def knows(self, did: str) -> bool:
        """See SponsorshipStore."""
        return storable(did) and bool(await self._reads.ask(KNOWS, (did,)))

    async def reserve(self, new: NewSponsorship) -> Full | None:
        """See SponsorshipStore."""
        full: Full | None = await self._again(RESERVE, new)
        return full

    async def open_sponsorships(self, chain: int, limit: int) -> list[OpenSponsorship]:
        """See SponsorshipStore."""
        rows = await self._reads.ask(OPEN, (_shard(chain), chain, limit))
        return [
            OpenSponsorship(key=SponsorshipKey(*row[:3]), gwei=row[3], valid_until=row[4], block=row[5]) for row in rows
        ]

    async def settle(self, key: SponsorshipKey, valid_until: int, gwei: int) -> bool:
        """See SponsorshipStore."""
        return bool((await self._again(SETTLE, (*_key_columns(key), valid_until, gwei)))[0][0])

    async def spent(self, chain: int, day: int) -> list[Spent]:
        """See SponsorshipStore."""
        return [Spent(*row) for row in await self._reads.ask(SPENT, (_shard(chain), chain, day))]

    async def forget(self, before_day: int) -> None:
        """See SponsorshipStore."""
        await self._again(FORGET, (before_day,))
