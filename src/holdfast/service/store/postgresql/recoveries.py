"""Requests for the service's signature as a guardian, and mails about recoveries, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.rules.shards import shard_of
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql.batches import Kind, LostRace
from holdfast.service.store.postgresql.tries import Tries
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


def _single(name: str, statement: str, *, repeatable: bool = False) -> Kind:
    """Return a kind of request that is never batched; its result is the list of rows."""
    return Kind(name, statement, lambda batch: batch[0], lambda _batch, rows: [rows], 1, repeatable)


def _encode_attempt(batch: Sequence[tuple[str, int, ChargeToMake]]) -> list[Any]:
    request, most, charge = batch[0]
    return [shard_of(request), request, most, *window_columns([charge])]


def _decode_attempt(batch: Sequence[tuple[str, int, ChargeToMake]], rows: list[Record]) -> list[Any]:
    refused = refusals([batch[0][2]], [row[:3] for row in map(tuple, rows) if row[1] is not None])
    if refused:
        return [refused[1]]
    return [CountedAttempt(0, *tuple(rows[0])[3:]) if rows else None]


_HOLDER = _single("recovery_holder", call("recovery_holder_v1", 3), repeatable=True)
_KEEP = _single("keep_recovery", call("keep_recovery_v1", 12), repeatable=True)
_ATTEMPT = Kind("attempt_recovery", call("attempt_recovery_v1", 11), _encode_attempt, _decode_attempt, 1)
_CONFIRM = _single("confirm_recovery", call("confirm_recovery_v1", 4))
_STOP = _single("stop_recovery", call("stop_recovery_v1", 3))
_SIGN = _single("sign_recovery", call("sign_recovery_v1", 4), repeatable=True)
_NOTE = _single("note_recovery_mails", call("note_recovery_mails_v1", 8), repeatable=True)
_RECOVERED = _single("note_recovered", call("note_recovered_v1", 5))
_TAKE = _single("take_recovery_mails", call("take_recovery_mails_v1", 3))
_SENT = _single("recovery_mail_sent", _MARK_SENT, repeatable=True)
_RETRY = _single("retry_recovery_mail", _RETRY_AT, repeatable=True)
_STATED = _single("dids_of_account", _STATED_BY, repeatable=True)
_EXPIRE = _single("expire_recoveries", call("expire_recoveries_v1", 2), repeatable=True)


class PostgresqlRecoveries:
    """Implements Recoveries."""

    def __init__(self, reads: Batcher, writes: Batcher) -> None:
        self._reads = reads
        self._writes = writes

    async def holder(self, identifier: Identifier) -> str | None:
        """See Recoveries."""
        rows = await self._reads.ask(_HOLDER, claim_key_of(identifier))
        found: str | None = rows[0][0]
        return found

    async def keep(self, new: NewRecovery) -> None:
        """See Recoveries."""
        of = (shard_of(new.request), new.request, new.did, *claim_key_of(new.identifier))
        await self._again(_KEEP, (*of, new.account, new.owners, new.nonce, new.digest, new.now, new.expires_at))

    async def count_attempt(
        self, request: str, quotas: Sequence[Quota], now: float, limit: int
    ) -> CountedAttempt | None:
        """See Recoveries."""
        counted: CountedAttempt | None = await self._again(
            _ATTEMPT, (request, limit, ChargeToMake(quotas, now, new_number()))
        )
        return counted

    async def confirm(self, request: str, now: float, ready_at: float) -> str | None:
        """See Recoveries."""
        account: str | None = (await self._again(_CONFIRM, (shard_of(request), request, now, ready_at)))[0][0]
        return account

    async def stop(self, request: str, now: float) -> bool:
        """See Recoveries."""
        return bool((await self._again(_STOP, (shard_of(request), request, now)))[0][0])

    async def signable(self, account: str, owners: str, nonce: int, now: float) -> Signable | None:
        """See Recoveries."""
        rows = await self._again(_SIGN, (account, owners, nonce, now))
        return Signable(*rows[0]) if rows else None

    async def note_started(self, started: StartedRecovery, now: float) -> int:
        """See Recoveries."""
        of = (started.did, shard_of(started.name), started.name, STARTED)
        return int((await self._again(_NOTE, (*of, started.account, started.until, "", now)))[0][0])

    async def note_finished(self, finished: FinishedRecovery, now: float) -> int:
        """See Recoveries."""
        of = (finished.did, shard_of(finished.name), finished.name)
        return int((await self._again(_RECOVERED, (*of, finished.account, now)))[0][0])

    async def take_mails(self, now: float, lease_s: float, limit: int) -> list[Mail]:
        """See Recoveries."""
        return [Mail(*row) for row in await self._again(_TAKE, (now, lease_s, limit))]

    async def sent(self, mail: Mail, now: float) -> None:
        """See Recoveries."""
        await self._again(_SENT, (shard_of(mail.name), mail.name, mail.recipient, now))

    async def retry_mail(self, mail: Mail, due_at: float) -> None:
        """See Recoveries."""
        await self._again(_RETRY, (shard_of(mail.name), mail.name, mail.recipient, due_at))

    async def dids_of(self, account: str) -> list[str]:
        """See Recoveries."""
        return [did for (did,) in await self._reads.ask(_STATED, (account, MOST_STATED))]

    async def expire(self, now: float) -> int:
        """See Recoveries."""
        removed = 0
        while part := int((await self._again(_EXPIRE, (now - RETENTION_S, _EXPIRED_AT_ONCE)))[0][0]):
            removed += part
        return removed

    async def _again(self, kind: Kind, argument: Any) -> Any:
        """Do a write and return its result, retrying while other transactions interfere."""
        for _ in Tries():
            try:
                return await self._writes.ask(kind, argument)
            except LostRace:
                continue
        raise StoreUnavailable("too many others wrote the same rows")
