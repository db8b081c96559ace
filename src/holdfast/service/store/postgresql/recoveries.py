"""Requests for the service's signature as a guardian, and mails about recoveries, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql.batches import Kind, row, rows_of, value_of
from holdfast.service.store.postgresql.writes.arguments import call, claim_key_of, new_number
from holdfast.service.store.postgresql.writes.charges import ChargeToMake, refusals, window_columns
from holdfast.service.store.recoveries import MOST_STATED, RETENTION_S, STARTED, Mail, Signable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncpg import Record

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.quotas import Quota
    from holdfast.service.store.postgresql.batcher import Batcher
    from holdfast.service.store.recoveries import FinishedRecovery, NewRecovery, StartedRecovery

_EXPIRED_AT_ONCE = 1000
_STATED_BY = (
    "SELECT did FROM holdfast.credentials WHERE signed AND smart_account IS NOT NULL"
    " AND right(lower(smart_account), 12) = right(lower($1), 12) AND lower(smart_account) = lower($1)"
    " GROUP BY did ORDER BY min(created_at) LIMIT $2"
)
_MARK_SENT = "UPDATE holdfast.recovery_mails SET sent_at = $4 WHERE shard = $1 AND name = $2 AND recipient = $3"

_RETRY_AT = (
    "UPDATE holdfast.recovery_mails SET due_at = $4"
    " WHERE shard = $1 AND name = $2 AND recipient = $3 AND sent_at IS NULL"
)


def _encode_attempt(batch: Sequence[tuple[str, int, ChargeToMake]]) -> list[Any]:
    request, most, charge = batch[0]
    return [shard_of(request), request, most, *window_columns([charge])]


def _decode_attempt(batch: Sequence[tuple[str, int, ChargeToMake]], rows: list[Record]) -> list[Any]:
    refused = refusals([batch[0][2]], [row[:3] for row in map(tuple, rows) if row[1] is not None])
    if refused:
        return [refused[1]]
    return [CountedAttempt(0, *tuple(rows[0])[3:]) if rows else None]


_HOLDER = value_of("recovery_holder", call("recovery_holder_v1", 3), lambda found: found, repeatable=True)
_KEEP = rows_of("keep_recovery", call("keep_recovery_v1", 12), row)
_ATTEMPT = Kind("attempt_recovery", call("attempt_recovery_v1", 11), _encode_attempt, _decode_attempt, 1)
_CONFIRM = value_of("confirm_recovery", call("confirm_recovery_v1", 4), lambda found: found)
_STOP = value_of("stop_recovery", call("stop_recovery_v1", 3), bool)
_SIGN = rows_of("sign_recovery", call("sign_recovery_v1", 4), Signable)
_NOTE = value_of("note_recovery_mails", call("note_recovery_mails_v1", 8), int, repeatable=True)
_RECOVERED = value_of("note_recovered", call("note_recovered_v1", 5), int)
_TAKE = rows_of("take_recovery_mails", call("take_recovery_mails_v1", 3), Mail, repeatable=False)
_SENT = rows_of("recovery_mail_sent", _MARK_SENT, row)
_RETRY = rows_of("retry_recovery_mail", _RETRY_AT, row)
_STATED = rows_of("dids_of_account", _STATED_BY, str)
_EXPIRE = value_of("expire_recoveries", call("expire_recoveries_v1", 2), int, repeatable=True)


class PostgresqlRecoveries:
    """Implements Recoveries."""

    def __init__(self, reads: Batcher, writes: Batcher) -> None:
        self._reads = reads
        self._writes = writes

    async def holder(self, identifier: Identifier) -> str | None:
        """See Recoveries."""
        return await self._reads.ask(_HOLDER, claim_key_of(identifier))

    async def keep(self, new: NewRecovery) -> None:
        """See Recoveries."""
        of = (shard_of(new.request), new.request, new.did, *claim_key_of(new.identifier))
        await self._writes.insist(_KEEP, (*of, new.account, new.owners, new.nonce, new.digest, new.now, new.expires_at))

    async def count_attempt(
        self, request: str, quotas: Sequence[Quota], now: float, limit: int
    ) -> CountedAttempt | None:
        """See Recoveries."""
        return await self._writes.insist(_ATTEMPT, (request, limit, ChargeToMake(quotas, now, new_number())))

    async def confirm(self, request: str, now: float, ready_at: float) -> str | None:
        """See Recoveries."""
        return await self._writes.insist(_CONFIRM, (shard_of(request), request, now, ready_at))

    async def stop(self, request: str, now: float) -> bool:
        """See Recoveries."""
        return await self._writes.insist(_STOP, (shard_of(request), request, now))

    async def signable(self, account: str, owners: str, nonce: int, now: float) -> Signable | None:
        """See Recoveries."""
        rows = await self._writes.insist(_SIGN, (account, owners, nonce, now))
        return rows[0] if rows else None

    async def note_started(self, started: StartedRecovery, now: float) -> int:
        """See Recoveries."""
        of = (started.did, shard_of(started.name), started.name, STARTED)
        return await self._writes.insist(_NOTE, (*of, started.account, started.until, "", now))

    async def note_finished(self, finished: FinishedRecovery, now: float) -> int:
        """See Recoveries."""
        of = (finished.did, shard_of(finished.name), finished.name)
        return await self._writes.insist(_RECOVERED, (*of, finished.account, now))

    async def take_mails(self, now: float, lease_s: float, limit: int) -> list[Mail]:
        """See Recoveries."""
        return await self._writes.insist(_TAKE, (now, lease_s, limit))

    async def sent(self, mail: Mail, now: float) -> None:
        """See Recoveries."""
        await self._writes.insist(_SENT, (shard_of(mail.name), mail.name, mail.recipient, now))

    async def retry_mail(self, mail: Mail, due_at: float) -> None:
        """See Recoveries."""
        await self._writes.insist(_RETRY, (shard_of(mail.name), mail.name, mail.recipient, due_at))

    async def dids_of(self, account: str) -> list[str]:
        """See Recoveries."""
        return await self._reads.ask(_STATED, (account, MOST_STATED))

    async def expire(self, now: float) -> int:
        """See Recoveries."""
        return await self._writes.in_parts(_EXPIRE, (now - RETENTION_S, _EXPIRED_AT_ONCE))
