"""The PostgreSQL store, which reads and writes in batches; each batch is one round trip and one transaction."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from holdfast.rules.additions import Addition
from holdfast.rules.bans import subjects_of
from holdfast.rules.limits import CLOCK_MARGIN_S, DAY_S, REFUSED_RETENTION_S
from holdfast.rules.registration import RegistrationRule, SessionBounds, SessionRule
from holdfast.rules.shards import shard_of
from holdfast.service.store.persons import Removed
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import additions, persons, reads, repeats
from holdfast.service.store.postgresql.administration import PostgresqlAdministration
from holdfast.service.store.postgresql.batcher import Batcher
from holdfast.service.store.postgresql.batches import LostRace
from holdfast.service.store.postgresql.clock import ClockGuard, GuardedBatcher
from holdfast.service.store.postgresql.connection import StoreConnection
from holdfast.service.store.postgresql.outbox import PostgresqlOutbox
from holdfast.service.store.postgresql.recoveries import PostgresqlRecoveries
from holdfast.service.store.postgresql.repeats import storing
from holdfast.service.store.postgresql.schema import SCHEMA_VERSION
from holdfast.service.store.postgresql.servers import Servers
from holdfast.service.store.postgresql.snapshot_index import PostgresqlSnapshotIndex
from holdfast.service.store.postgresql.sponsorships import PostgresqlSponsorships
from holdfast.service.store.postgresql.texts import storable
from holdfast.service.store.postgresql.tries import Tries, crowded
from holdfast.service.store.postgresql.writes import charges, claims, codes, upkeep
from holdfast.service.store.postgresql.writes.arguments import claim_key_of, new_number
from holdfast.service.store.values import COUNTED_PENDING, StoreGauges, since

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.one_time_codes import CountedAttempt
    from holdfast.rules.pseudonyms import Pseudonyms
    from holdfast.rules.quotas import Counted, Quota
    from holdfast.rules.registration import Claim, Confirmation, Move, RegistrationFacts, SessionFacts
    from holdfast.service.store.persons import NewAddress, Removal
    from holdfast.service.store.port import Charge
    from holdfast.service.store.postgresql.address import Address
    from holdfast.service.store.values import (
        IdempotencyState,
        LateTransaction,
        NewAttempt,
        NewCode,
        NewRegistration,
        NewRepeat,
        NewSession,
        PendingRegistration,
        RegisteredDid,
        StoredResponse,
    )

WRITE_CONNECTIONS, READ_CONNECTIONS = 2, 2
_EXPIRED_AT_ONCE, _REFUSED_AT_ONCE = 1000, 100
_NEVER = SessionBounds(own_from=0, own_below=0, around_from=0, around_below=0)


def _connections(servers: Servers, number: int, *, is_citus: bool) -> list[StoreConnection]:
    return [StoreConnection(servers, is_citus=is_citus) for _ in range(number)]


class PostgresqlStore:
    """Implements the Store port. The schema must already exist; connections are opened when they are needed."""

    def __init__(self, address: Address, *, is_citus: bool = False) -> None:
        servers = Servers(address)
        self._has_bans = False  # as far as this process has been told
        self._reads = Batcher(_connections(servers, READ_CONNECTIONS, is_citus=is_citus), "read")
        self._clock = ClockGuard(self._reads)
        self._writes = GuardedBatcher(_connections(servers, WRITE_CONNECTIONS, is_citus=is_citus), "write", self._clock)
        self._administration = PostgresqlAdministration(self._reads, self._writes)
        self._outbox = PostgresqlOutbox(self._reads, self._writes)
        self._snapshots = PostgresqlSnapshotIndex(self._reads, self._writes)
        self._recoveries = PostgresqlRecoveries(self._reads, self._writes)
        self._sponsorships = PostgresqlSponsorships(self._reads, self._writes)

    @property
    def snapshots(self) -> PostgresqlSnapshotIndex:
        """See Store."""
        return self._snapshots

    @property
    def recoveries(self) -> PostgresqlRecoveries:
        """See Store."""
        return self._recoveries

    @property
    def administration(self) -> PostgresqlAdministration:
        """See Store."""
        return self._administration

    @property
    def outbox(self) -> PostgresqlOutbox:
        """See Store."""
        return self._outbox

    @property
    def sponsorships(self) -> PostgresqlSponsorships:
        """See Store."""
        return self._sponsorships

    # -- reads -----------------------------------------------------------------------------------------------------

    async def ping(self) -> None:
        """See Store."""
        rows = await self._reads.ask(reads.VERSION, ())
        version, oldest = rows[0] if rows else (0, 0)
        if version < SCHEMA_VERSION or oldest > SCHEMA_VERSION:
            raise StoreUnavailable(f"the database has schema {version}, this process knows {SCHEMA_VERSION}")
        await self._clock.require()

    async def require_room(self) -> None:
        """See Store."""
        await self._reads.ask(reads.ROOM, ())

    async def claim_of(self, channel: str, key: str) -> Claim | None:
        """See Store."""
        return await self._reads.ask(reads.CLAIM, (channel, key))

    async def is_claimed(self, channel: str, key: str) -> bool:
        """See Store."""
        return await self._reads.ask(reads.CLAIM, (channel, key)) is not None

    async def find_credential(self, credential: str) -> RegisteredDid | None:
        """See Store."""
        if not storable(credential):
            return None
        return await self._reads.ask(reads.CREDENTIAL, credential)

    async def registrations(self, ip: str) -> tuple[int, int]:
        """See Store."""
        return await self._reads.ask(reads.REGISTRATIONS, ip)

    async def verified_at(self, identifier: Identifier) -> float | None:
        """See Store."""
        return await self._reads.ask(reads.VERIFIED, (identifier.channel.value, identifier.key))

    async def due(self, now: float, limit: int) -> list[PendingRegistration]:
        """See Store."""
        return await self._reads.ask(reads.DUE, (now, limit))

    async def holds_lease(self, name: str, holder: str, now: float) -> bool:
        """See Store."""
        return await self._reads.ask(reads.HOLDS_LEASE, (name, holder, now)) != []

    async def describe(self, channel: str, key: str) -> dict[str, object] | None:
        """See Store."""
        claim_key = (shard_of(channel, key), channel, key)
        parts = await asyncio.gather(*(self._reads.ask(kind, claim_key) for kind in reads.DESCRIPTION.values()))
        found: dict[str, Any] = dict(zip(reads.DESCRIPTION, parts, strict=True))
        found["claim"] = found["claim"][0] if found["claim"] else None
        return found if any(found.values()) else None

    async def gauges(self, now: float) -> StoreGauges:
        """See Store."""
        pending, due_since, events, oldest = (await self._reads.ask(reads.PENDING, (COUNTED_PENDING,)))[0]
        commit_waits, server_now = (await self._reads.ask(reads.SERVER, ()))[0]
        standbys = await self._reads.ask(reads.STANDBYS, ())
        return StoreGauges(
            pending=pending,
            overdue_s=since(due_since, now),
            events=events,
            oldest_event_s=since(oldest, now),
            standbys={state or "unknown": count for state, count in standbys},
            standby_required=commit_waits,
            clock_offset_s=now - server_now,
        )

    def update_gauges(self) -> None:
        """See Store."""
        self._reads.update_gauges()
        self._writes.update_gauges()

    # -- sessions and registrations --------------------------------------------------------------------------------

    async def open_session(
        self, session: NewSession, decide: Callable[[SessionFacts], None], response: StoredResponse | None = None
    ) -> None:
        """See Store. The database applies a SessionRule; other rules run here, and the database checks their facts."""
        bounds = decide.bounds() if isinstance(decide, SessionRule) else _NEVER
        claim_key = claim_key_of(session.identifier)
        for _ in Tries():
            bannable = subjects_of(session.identifier, session.did, session.network) if self._has_bans else None
            try:
                argument = claims.SessionToOpen(session, claim_key, bounds, bannable)
                facts = await self._writes.ask(*storing(response, claims.OPEN_SESSIONS, argument, (claim_key,)))
            except LostRace:
                continue
            if isinstance(facts, claims.SubjectsNeeded):
                self._has_bans = True
                continue
            if facts is None:
                return
            decide(facts)
            if not isinstance(decide, SessionRule):
                bounds = SessionBounds.exactly(facts)
        raise crowded()

    async def register(
        self,
        registration: NewRegistration,
        decide: Callable[[RegistrationFacts], Move],
        response: StoredResponse | None = None,
    ) -> None:
        """See Store.

        The database applies a RegistrationRule; other rules run here, and the database checks their facts.
        """
        bounds = decide.bounds() if isinstance(decide, RegistrationRule) else None
        argument = first = claims.RegistrationToMake(registration, bounds)
        attested = () if registration.attestation is None else (registration.attestation[0],)
        keys = (claim_key_of(registration.identifier), registration.request.credential_id, *attested)
        for _ in Tries():
            try:
                seen = await self._writes.ask(*storing(response, claims.REGISTER, argument, keys))
            except LostRace:
                argument = first
                continue
            if seen is None:
                return
            move = decide(seen.facts)
            argument = first if bounds else claims.RegistrationToMake(registration, None, move, seen)
        raise crowded()

    async def add_transaction(self, late: LateTransaction, response: StoredResponse | None = None) -> bool:
        """See Store."""
        keys = (claim_key_of(late.identifier), late.credential)
        return await self._writes.insist(*storing(response, claims.ADD_TRANSACTION, late, keys))

    # -- windows and codes -----------------------------------------------------------------------------------------

    async def charge(self, quotas: Sequence[Quota], now: float) -> Charge:
        """See Store."""
        charge = charges.ChargeToMake(quotas, now, new_number())
        return await self._writes.insist(charges.CHARGE, charge) if quotas else charges.charge_made(charge)

    async def give_back(self, charge: Charge, what: Collection[Counted]) -> None:
        """See Store."""
        assert isinstance(charge, charges.ChargeMade)
        kinds = {kind.value for kind in what}
        windows = tuple(window for window in charge.windows if window[0] in kinds)
        if windows:
            await self._writes.insist(charges.GIVE_BACK, (charge.event, windows), windows)

    async def keep_code(self, code: NewCode, response: StoredResponse | None = None) -> None:
        """See Store."""
        await self._writes.insist(
            *storing(response, codes.KEEP_CODES, (code, new_number()), (claim_key_of(code.identifier),))
        )

    async def count_attempt(self, attempt: NewAttempt) -> CountedAttempt | None:
        """See Store."""
        charge = charges.ChargeToMake(attempt.quotas, attempt.now, new_number())
        kind = codes.COUNT_ATTEMPTS if attempt.repeat is None else repeats.NOTE_ATTEMPTS
        return await self._writes.insist(kind, codes.AttemptToCount(attempt, charge))

    async def consume_code(
        self, identifier: Identifier, code_id: int, now: float, response: StoredResponse | None = None
    ) -> bool:
        """See Store."""
        keys = (claim_key_of(identifier),)
        return await self._writes.insist(*storing(response, codes.CONSUME_CODES, (identifier, code_id, now), keys))

    async def mark_verified(self, identifier: Identifier, now: float, response: StoredResponse | None = None) -> None:
        """See Store."""
        keys = (claim_key_of(identifier),)
        await self._writes.insist(*storing(response, codes.MARK_VERIFIED, (identifier, now), keys))

    # -- repeats ---------------------------------------------------------------------------------------------------

    async def begin(self, repeat: NewRepeat) -> IdempotencyState:
        """See Store. Parallel requests with the same new key may each be counted in the windows."""
        if not await self._reads.ask(reads.KNOWN_KEY, (repeat.key, repeat.now)):
            await self.charge(repeat.quotas, repeat.now)
        return (await self._writes.insist(repeats.BEGIN, repeats.begin_arguments(repeat)))[0]

    async def finish(self, key: bytes, answer: bytes | None) -> bytes | None:
        """See Store."""
        return await self._writes.insist(repeats.FINISH, (shard_of(key), key, answer))

    async def code_of(self, identifier: Identifier) -> CountedAttempt | None:
        """See Store."""
        return await self._reads.ask(reads.CODE, (identifier.channel.value, identifier.key))

    # -- maintenance -----------------------------------------------------------------------------------------------

    async def put_off(self, times: Sequence[tuple[str, float]]) -> None:
        """See Store."""
        credentials = [credential for credential, _ in times]
        shards = [shard_of(credential) for credential in credentials]
        await self._writes.insist(upkeep.PUT_OFF, (shards, credentials, [at for _, at in times]))

    async def settle(self, credential: str, outcome: Confirmation, block_number: int | None, now: float) -> bool:
        """See Store."""
        values = (shard_of(credential), credential, outcome.value, block_number, now)
        return await self._writes.insist(upkeep.SETTLE, values)

    async def expire(self, now: float) -> int:
        """See Store. Rows are removed in parts, so that no statement takes long."""
        # The function counts each time from the first.
        times = (now - CLOCK_MARGIN_S, float(DAY_S), float(REFUSED_RETENTION_S - CLOCK_MARGIN_S))
        values = (*times, _EXPIRED_AT_ONCE)
        removed = 0
        while part := await self._writes.insist(upkeep.EXPIRE, values):
            removed += part
            if part < _EXPIRED_AT_ONCE:
                break
        for kind, before, most in (
            (upkeep.EXPIRE_REFUSED, now - REFUSED_RETENTION_S, _REFUSED_AT_ONCE),
            (repeats.EXPIRE, now - CLOCK_MARGIN_S, _EXPIRED_AT_ONCE),
        ):
            removed += await self._writes.in_parts(kind, (before, most))
        return removed

    async def take_lease(self, name: str, holder: str, now: float, ttl_s: float) -> bool:
        """See Store."""
        return await self._writes.insist(upkeep.TAKE_LEASE, (name, holder, now, ttl_s))

    async def end_lease(self, name: str, holder: str) -> None:
        """See Store."""
        await self._writes.insist(upkeep.END_LEASE, (name, holder))

    async def release(self, channel: str, key: str, now: float) -> bool:
        """See Store."""
        return await self._writes.insist(upkeep.RELEASE, (shard_of(channel, key), channel, key, now))

    async def revoke_credential(self, credential: str, now: float) -> bool:
        """See Store."""
        if not storable(credential):
            return False
        return await self._writes.insist(upkeep.REVOKE, (shard_of(credential), credential, now))

    async def take_back(self, removal: Removal) -> Removed:
        """See Store."""
        texts = (removal.did, removal.credential or "", *(removal.name or ()))
        if not all(map(storable, texts)):
            return Removed()
        return await self._writes.insist(persons.TAKE_BACK, persons.removal_arguments(removal))

    async def add_address(self, address: NewAddress) -> Addition:
        """See Store."""
        if not all(map(storable, (address.did, address.identifier.key, address.identifier.given))):
            return Addition.UNREGISTERED
        return await self._writes.insist(additions.ADD_ADDRESS, address)

    async def held_of(self, did: str, hashed: str) -> dict[str, list[dict[str, object]]]:
        """See Store."""
        return await self._reads.ask(persons.HELD, (shard_of(did), did, hashed))

    async def hide_names(self, pseudonyms: Pseudonyms, before: float) -> int:
        """See Store. Names are replaced in parts, so that no statement takes long."""
        return await self._writes.in_parts(persons.HIDE_NAMES, (*pseudonyms.blocks, before, persons.HIDDEN_AT_ONCE))

    # -- life ------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """See Store."""
        await self._writes.close()
        await self._reads.close()
