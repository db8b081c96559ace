"""What operators look at and change in PostgreSQL."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
from typing import TYPE_CHECKING

from holdfast.rules.limits import DAY_S
from holdfast.rules.shards import shard_of
from holdfast.service.store.administration import Act, Ban, DayCount, Listed, key_range, time_range
from holdfast.service.store.persons import Removed
from holdfast.service.store.postgresql.batches import LostRace, rows_of, value_of
from holdfast.service.store.postgresql.operator_records import PostgresqlOperatorRecords
from holdfast.service.store.postgresql.persons import removal_arguments
from holdfast.service.store.postgresql.texts import storable
from holdfast.service.store.postgresql.writes.arguments import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.rules.identifiers import Identifier
    from holdfast.service.store.administration import By, Scan
    from holdfast.service.store.persons import Removal
    from holdfast.service.store.postgresql.batches import Kind

_CREDENTIALS = (
    "(SELECT count(*) FROM holdfast.credentials AS c WHERE c.shard = i.shard AND c.channel = i.channel"
    " AND c.key = i.key AND c.confirmation = '{}')"
)
_LISTED = (
    "SELECT i.channel, i.key, i.given, i.did, i.stage, i.ip, i.created_at, i.registered_at,"
    f" {_CREDENTIALS.format('confirmed')}, {_CREDENTIALS.format('pending')} FROM holdfast.identifiers AS i"
)
_NEWEST_FIRST = (
    "i.created_at >= $1 AND i.created_at <= $2"
    ' AND (i.created_at, i.channel, i.key) < ($3, $4 COLLATE "C", $5 COLLATE "C")'
    " ORDER BY i.created_at DESC, i.channel DESC, i.key DESC LIMIT $6"
)
_NEWEST_ID = "f" * 32

NEWEST = rows_of("scan", f"{_LISTED} WHERE {_NEWEST_FIRST}", Listed)
OF_DID = rows_of("scan", f"{_LISTED} WHERE right(i.did, 12) = right($7, 12) AND i.did = $7 AND {_NEWEST_FIRST}", Listed)
BY_KEY = rows_of(
    "scan",
    f"{_LISTED} WHERE i.channel = $1 AND i.key >= $2 AND i.key < $3 AND i.created_at >= $4"
    " AND i.created_at < $5 ORDER BY i.key LIMIT $6",
    Listed,
)
COUNT = rows_of(
    "count_day",
    f"SELECT floor(created_at / {DAY_S})::int, channel, count(*), count(*) FILTER (WHERE stage = 'registered')"
    " FROM holdfast.identifiers WHERE created_at >= $1 AND created_at < $2 GROUP BY 1, 2 ORDER BY 1, 2",
    DayCount,
)
_ACT_COLUMNS = ", ".join(name if name != "id" else "replace(id::text, '-', '')" for name in Act._fields)
ACTS = rows_of(
    "acts",
    f"SELECT {_ACT_COLUMNS} FROM holdfast.audit WHERE operator IS NOT NULL AND action NOT IN ('session', 'registered')"
    " AND (at, id) < ($1, $2::uuid) ORDER BY at DESC, id DESC LIMIT $3",
    Act,
)
BANS = rows_of(
    "bans", f"SELECT {', '.join(Ban._fields)} FROM holdfast.bans WHERE subject > $1 ORDER BY subject LIMIT $2", Ban
)
BAN = value_of("ban", call("ban_v1", 4), bool)
LIFT = value_of("lift", call("lift_ban_v1", 3), bool)
RELEASE = value_of("release", call("release_by_v1", 5), bool)
REVOKE = value_of("revoke_credential", call("revoke_by_v1", 4), bool)
TRANSFER = value_of("transfer", call("transfer_v1", 6), bool)
RENAME = value_of("rename", call("rename_v1", 8), bool)
ERASE = value_of("erase", call("erase_v1", 15), Removed.of_text)


class PostgresqlAdministration(PostgresqlOperatorRecords):
    """Implements Administration."""

    async def scan(self, scan: Scan, limit: int) -> list[Listed]:
        """See Administration."""
        return await self._reads.ask(*query_of(scan, limit))

    async def count_day(self, since: float, until: float) -> list[DayCount]:
        """See Administration."""
        return await self._reads.ask(COUNT, (since, until))

    async def acts(self, after: tuple[float, str] | None, limit: int) -> list[Act]:
        """See Administration."""
        at, number = after or (1e12, _NEWEST_ID)
        return await self._reads.ask(ACTS, (at, number.zfill(len(_NEWEST_ID)), limit))

    async def bans(self, after: str, limit: int) -> list[Ban]:
        """See Administration."""
        return await self._reads.ask(BANS, (after, limit))

    async def ban(self, subject: str, reason: str, by: By) -> bool:
        """See Administration."""
        return await self._writes.insist(BAN, (by.operator, subject, reason, by.now))

    async def lift(self, subject: str, by: By) -> bool:
        """See Administration."""
        return await self._writes.insist(LIFT, (by.operator, subject, by.now))

    async def release(self, channel: str, key: str, by: By) -> bool:
        """See Administration."""
        return await self._writes.insist(RELEASE, (by.operator, shard_of(channel, key), channel, key, by.now))

    async def revoke(self, credential: str, by: By) -> bool:
        """See Administration."""
        if not storable(credential):
            return False
        return await self._writes.insist(REVOKE, (by.operator, shard_of(credential), credential, by.now))

    async def transfer(self, channel: str, key: str, did: str, by: By) -> bool:
        """See Administration."""
        return await self._writes.insist(TRANSFER, (by.operator, shard_of(channel, key), channel, key, did, by.now))

    async def rename(self, channel: str, key: str, new: Identifier, by: By) -> bool:
        """See Administration."""
        old = (shard_of(channel, key), channel, key)
        renamed = (shard_of(channel, new.key), new.key, new.given)
        try:
            return await self._writes.ask(RENAME, (by.operator, *old, *renamed, by.now))
        except LostRace:  # the new name is taken
            return False

    async def erase(self, removal: Removal, by: By) -> Removed:
        """See Administration."""
        if not storable(removal.did):
            return Removed()
        hashed = removal.pseudonyms.of_did(removal.did)
        return await self._writes.insist(ERASE, (by.operator, hashed, *removal_arguments(removal)))


def query_of(scan: Scan, limit: int) -> tuple[Kind[Sequence[object], list[Listed]], tuple[object, ...]]:
    """Return the kind of request that reads what a scan says, and its argument."""
    if scan.did is not None:
        return OF_DID, (*time_range(scan), limit, scan.did)
    if scan.prefix is not None:
        return BY_KEY, (scan.channel, *key_range(scan, scan.prefix), scan.since, scan.until, limit)
    return NEWEST, (*time_range(scan), limit)
