"""The sponsor's budgets in PostgreSQL. A database function applies the rule, under a lock for each chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.shards import shard_of
from holdfast.rules.sponsoring import Spent
from holdfast.service.store.postgresql.batches import row, rows_of, value_of
from holdfast.service.store.postgresql.texts import storable
from holdfast.service.store.postgresql.writes.arguments import call
from holdfast.service.store.sponsorships import Full, OpenSponsorship, SponsorshipKey

if TYPE_CHECKING:
    from holdfast.service.store.postgresql.batcher import Batcher
    from holdfast.service.store.sponsorships import NewSponsorship


# More gwei than there are. The gas limits of an operation may make its cost too large for a bigint.
_ALL_ETHER = 2**60


def _key_columns(key: SponsorshipKey) -> tuple[int, int, str, str]:
    return _shard(key.chain), *key


def _shard(chain: int) -> int:
    return shard_of(str(chain))


# A repeat reserves for the same nonce.
RESERVE = rows_of("reserve_sponsorship", call("reserve_sponsorship_v1", 10), Full)
SETTLE = value_of("settle_sponsorship", call("settle_sponsorship_v1", 6), bool)
FORGET = rows_of("forget_sponsored", "DELETE FROM holdfast.sponsor_days WHERE day > 0 AND day < $1 RETURNING 1", row)
_OPEN = (
    "SELECT chain, sender, nonce, gwei, valid_until, block FROM holdfast.sponsorships"
    " WHERE shard = $1 AND chain = $2 {}ORDER BY valid_until LIMIT $3"
)


def _opened(chain: int, sender: str, nonce: str, *rest: int) -> OpenSponsorship:
    gwei, valid_until, block = rest
    return OpenSponsorship(key=SponsorshipKey(chain, sender, nonce), gwei=gwei, valid_until=valid_until, block=block)


OPEN = rows_of("open_sponsorships", _OPEN.format(""), _opened)
OPEN_OF = rows_of("open_sponsorships_of", _OPEN.format("AND sender = $4 "), _opened)
SPENT = rows_of(
    "sponsored_on",
    "SELECT subject, gwei FROM holdfast.sponsor_days WHERE shard = $1 AND chain = $2 AND day = $3 ORDER BY subject",
    Spent,
)
KNOWS = rows_of(
    "knows_did",
    "SELECT 1 FROM holdfast.identifiers AS t WHERE right(t.did, 12) = right($1, 12) AND t.did = $1 LIMIT 1",
    row,
)


class PostgresqlSponsorships:
    """Implements SponsorshipStore through the store's batches."""

    def __init__(self, reads: Batcher, writes: Batcher) -> None:
        self._reads, self._writes = reads, writes

    async def knows(self, did: str) -> bool:
        """See SponsorshipStore."""
        return storable(did) and await self._reads.ask(KNOWS, (did,)) != []

    async def reserve(self, new: NewSponsorship) -> Full | None:
        """See SponsorshipStore."""
        budgets = ([budget.subject for budget in new.budgets], [budget.limit for budget in new.budgets])
        until = (new.valid_until, new.block)
        full = await self._writes.insist(
            RESERVE, (*_key_columns(new.key), new.day, min(new.gwei, _ALL_ETHER), *budgets, *until)
        )
        return full[0] if full else None

    async def open_sponsorships(self, chain: int, limit: int, sender: str | None = None) -> list[OpenSponsorship]:
        """See SponsorshipStore."""
        if sender is None:
            return await self._reads.ask(OPEN, (_shard(chain), chain, limit))
        return await self._reads.ask(OPEN_OF, (_shard(chain), chain, limit, sender))

    async def settle(self, key: SponsorshipKey, valid_until: int, gwei: int) -> bool:
        """See SponsorshipStore."""
        return await self._writes.insist(SETTLE, (*_key_columns(key), valid_until, gwei))

    async def spent(self, chain: int, day: int) -> list[Spent]:
        """See SponsorshipStore."""
        return await self._reads.ask(SPENT, (_shard(chain), chain, day))

    async def forget(self, before_day: int) -> None:
        """See SponsorshipStore."""
        await self._writes.insist(FORGET, (before_day,))
