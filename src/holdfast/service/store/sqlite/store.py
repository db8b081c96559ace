"""The embedded store: SQLite in WAL mode, with reads on the calling thread and writes by group commit."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from functools import partial
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

import msgspec

from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.rules.registration import Claim, Stage
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.sqlite import additions, charges, claims, codes, confirmations, persons, repeats, upkeep
from holdfast.service.store.sqlite.admin import describe_identifier
from holdfast.service.store.sqlite.administration import SqliteAdministration
from holdfast.service.store.sqlite.hashes import unpack_hash
from holdfast.service.store.sqlite.identity import OpenedFiles
from holdfast.service.store.sqlite.migrations import SCHEMA_VERSION
from holdfast.service.store.sqlite.moved import refuse_moved
from holdfast.service.store.sqlite.outbox import SqliteOutbox
from holdfast.service.store.sqlite.reader import TurnReader, mark_latest
from holdfast.service.store.sqlite.recoveries import SqliteRecoveries
from holdfast.service.store.sqlite.schema import connect, keep_chain, migrate
from holdfast.service.store.sqlite.snapshot_index import SqliteSnapshotIndex
from holdfast.service.store.sqlite.sponsorships import SqliteSponsorships
from holdfast.service.store.sqlite.writer import GroupCommitWriter
from holdfast.service.store.values import COUNTED_PENDING, RegisteredDid, StoreGauges, since
from holdfast.service.telemetry import metrics
from holdfast.wire.file_errors import file_words
from holdfast.wire.sqlite_errors import error_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from holdfast.rules.additions import Addition
    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.pseudonyms import Pseudonyms
    from holdfast.rules.quotas import Counted, Quota
    from holdfast.rules.registration import Confirmation, Move, RegistrationFacts, SessionFacts
    from holdfast.service.store.administration import Administration
    from holdfast.service.store.outbox import Outbox
    from holdfast.service.store.persons import NewAddress, Removal, Removed
    from holdfast.service.store.port import Charge
    from holdfast.service.store.recoveries import Recoveries
    from holdfast.service.store.snapshot_index import SnapshotIndex
    from holdfast.service.store.sponsorships import SponsorshipStore
    from holdfast.service.store.values import (
        IdempotencyState,
        LateTransaction,
        NewAttempt,
        NewCode,
        NewRegistration,
        NewRepeat,
        NewSession,
        PendingRegistration,
        StoredResponse,
    )

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
_STAGES = {stage.value: stage for stage in Stage}


class SqliteStore:
    """Implements the Store port with one SQLite file.

    A look-up by key takes 10 to 20 µs even with ten million rows, less than handing it to a thread, so reads run on the
    calling thread. Writes wait for the disk, so they never run on the calling thread.
    """

    def __init__(self, file: Path, chain: int | None = None) -> None:
        """Open or create the file and migrate its schema. With `chain`, it belongs to that chain from now on.

        Raises:
            OtherChain: it belongs to another chain already.
            SchemaTooNew: a newer Holdfast wrote the file.
            StoreUnavailable: it cannot be opened, or was moved to PostgreSQL.
        """
        self._file = file
        try:
            writer = _current(file, chain)
            self._reader = connect(file)
            self._marker = connect(file)
        except sqlite3.DatabaseError as error:
            raise StoreUnavailable(f"{file.name}: {error_words(error, file)}{_denied(file)}") from error
        except OSError as error:
            raise StoreUnavailable(f"{file} cannot be made: {_why_not_made(file, error)}") from error
        self._reader.execute("PRAGMA query_only = ON")
        self._read = TurnReader(self._reader)
        self._opened = OpenedFiles(file)
        self._writer = GroupCommitWriter(
            writer, self._opened.verify, self._read.transactions, partial(mark_latest, self._marker)
        )
        self._writer_connection = writer
        self._administration = SqliteAdministration(file, self._writer)
        self._outbox = SqliteOutbox(self._read, self._writer)
        self._snapshots = SqliteSnapshotIndex(file, self._read, self._writer)
        self._recoveries = SqliteRecoveries(self._read, self._writer)
        self._sponsorships = SqliteSponsorships(self._read, self._writer)

    @property
    def snapshots(self) -> SnapshotIndex:
        """See Store."""
        return self._snapshots

    @property
    def recoveries(self) -> Recoveries:
        """See Store."""
        return self._recoveries

    @property
    def administration(self) -> Administration:
        """See Store."""
        return self._administration

    @property
    def outbox(self) -> Outbox:
        """See Store."""
        return self._outbox

    @property
    def sponsorships(self) -> SponsorshipStore:
        """See Store."""
        return self._sponsorships

    # -- reads -----------------------------------------------------------------------------------------------------

    async def ping(self) -> None:
        """See Store."""
        self._opened.verify()
        (version,) = self._read.one("SELECT user_version FROM pragma_user_version")
        if version != SCHEMA_VERSION:
            raise StoreUnavailable(f"the database has schema {version}, this process knows {SCHEMA_VERSION}")

    async def require_room(self) -> None:
        """See Store. On a full disk, every write fails."""

    async def claim_of(self, channel: str, key: str) -> Claim | None:
        """See Store."""
        row = self._read.one("SELECT did, stage FROM identifiers WHERE channel = ? AND key = ?", channel, key)
        return Claim(row[0], _STAGES[row[1]]) if row else None

    async def is_claimed(self, channel: str, key: str) -> bool:
        """See Store. Reads only the index."""
        return self._read.one("SELECT 1 FROM identifiers WHERE channel = ? AND key = ?", channel, key) is not None

    async def find_credential(self, credential: str) -> RegisteredDid | None:
        """See Store."""
        row = self._read.one(
            f"SELECT {', '.join(RegisteredDid.__struct_fields__)}"  # noqa: S608 - our own names
            " FROM credentials WHERE credential = ? AND confirmation <> 'refused'",
            credential,
        )
        if row is None:
            return None
        found = RegisteredDid(*row)
        return msgspec.structs.replace(found, tx_hash=unpack_hash(found.tx_hash))

    async def registrations(self, ip: str) -> tuple[int, int]:
        """See Store."""
        row = self._read.one(
            "SELECT coalesce((SELECT registrations FROM ip_counters WHERE ip = ?), 0),"
            " (SELECT value FROM totals WHERE name = 'registrations')",
            ip,
        )
        return row[0], row[1]

    async def verified_at(self, identifier: Identifier) -> float | None:
        """See Store."""
        row = self._read.one(
            "SELECT verified_at FROM verifications WHERE channel = ? AND key = ?",
            identifier.channel.value,  # adapting anything that is not exactly a str takes longer than the read
            identifier.key,
        )
        return row[0] if row else None

    async def due(self, now: float, limit: int) -> list[PendingRegistration]:
        """See Store."""
        return [confirmations.pending(row) for row in self._read.all(confirmations.DUE, now, limit)]

    async def gauges(self, now: float) -> StoreGauges:
        """See Store."""
        pending, due_since, events, oldest = self._read.one(confirmations.PENDING, COUNTED_PENDING)
        return StoreGauges(
            pending=pending, overdue_s=since(due_since, now), events=events, oldest_event_s=since(oldest, now)
        )

    def update_gauges(self) -> None:
        """See Store."""
        metrics.STORE_WAITING.set(self._writer.waiting(), "write")

    async def describe(self, channel: str, key: str) -> dict[str, object] | None:
        """See Store."""
        try:
            return describe_identifier(self._reader, channel, key)
        except sqlite3.DatabaseError as error:
            metrics.STORE_FAILURES.add("read")
            raise StoreUnavailable(str(error)) from error

    async def code_of(self, identifier: Identifier) -> CountedAttempt | None:
        """See Store."""
        row = self._read.one(
            "SELECT id, digest, expires_at, attempts FROM codes WHERE channel = ? AND key = ?",
            identifier.channel.value,
            identifier.key,
        )
        return CountedAttempt(*row) if row else None

    # -- writes ----------------------------------------------------------------------------------------------------

    async def open_session(
        self, session: NewSession, decide: Callable[[SessionFacts], None], response: StoredResponse | None = None
    ) -> None:
        """See Store."""
        await self._keeping(response, claims.open_session, session, decide)

    async def register(
        self,
        registration: NewRegistration,
        decide: Callable[[RegistrationFacts], Move],
        response: StoredResponse | None = None,
    ) -> None:
        """See Store."""
        await self._keeping(response, claims.register, registration, decide)

    async def add_transaction(self, late: LateTransaction, response: StoredResponse | None = None) -> bool:
        """See Store."""
        return await self._keeping(response, confirmations.add_transaction, late)

    async def charge(self, quotas: Sequence[Quota], now: float) -> Charge:
        """See Store."""
        return await self._writer.write(charges.charge, quotas, now)

    async def give_back(self, charge: Charge, what: Collection[Counted]) -> None:
        """See Store."""
        await self._writer.write(charges.give_back, charge, what)

    async def keep_code(self, code: NewCode, response: StoredResponse | None = None) -> None:
        """See Store."""
        await self._keeping(response, codes.keep_code, code)

    async def count_attempt(self, attempt: NewAttempt) -> CountedAttempt | None:
        """See Store."""
        return await self._writer.write(codes.count_attempt, attempt)

    async def consume_code(
        self, identifier: Identifier, code_id: int, now: float, response: StoredResponse | None = None
    ) -> bool:
        """See Store."""
        return await self._keeping(response, codes.consume_code, identifier, code_id, now)

    async def mark_verified(self, identifier: Identifier, now: float, response: StoredResponse | None = None) -> None:
        """See Store."""
        await self._keeping(response, codes.mark_verified, identifier, now)

    async def begin(self, repeat: NewRepeat) -> IdempotencyState:
        """See Store."""
        return await self._writer.write(repeats.begin, repeat)

    async def finish(self, key: bytes, answer: bytes | None) -> bytes | None:
        """See Store."""
        return await self._writer.write(repeats.finish, key, answer)

    async def _keeping(
        self,
        response: StoredResponse | None,
        work: Callable[[sqlite3.Connection, *Arguments], T],
        *arguments: *Arguments,
    ) -> T:
        """Do a write and, in the same transaction, store the response that reports it."""
        if response is None:
            return await self._writer.write(work, *arguments)
        return await self._writer.write(repeats.keeping, response, work, *arguments)

    async def put_off(self, times: Sequence[tuple[str, float]]) -> None:
        """See Store."""
        await self._writer.write(confirmations.put_off, times)

    async def settle(self, credential: str, outcome: Confirmation, block_number: int | None, now: float) -> bool:
        """See Store."""
        return await self._writer.write(confirmations.settle, credential, outcome, block_number, now)

    async def expire(self, now: float) -> int:
        """See Store. Rows are removed in parts, so that no other write waits long."""
        return await upkeep.in_parts(self._writer, upkeep.expire, now)

    async def take_lease(self, name: str, holder: str, now: float, ttl_s: float) -> bool:
        """See Store."""
        return await self._writer.write(upkeep.take_lease, name, holder, now, ttl_s)

    async def end_lease(self, name: str, holder: str) -> None:
        """See Store."""
        await self._writer.write(upkeep.end_lease, name, holder)

    async def holds_lease(self, name: str, holder: str, now: float) -> bool:
        """See Store."""
        statement = "SELECT 1 FROM leases WHERE name = ? AND holder = ? AND expires_at > ?"
        return self._read.one(statement, name, holder, now) is not None

    async def release(self, channel: str, key: str, now: float) -> bool:
        """See Store."""
        return await self._writer.write(claims.release, channel, key, now)

    async def revoke_credential(self, credential: str, now: float) -> bool:
        """See Store."""
        return await self._writer.write(claims.revoke_credential, credential, now)

    async def take_back(self, removal: Removal) -> Removed:
        """See Store."""
        return await self._writer.write(persons.take_back, removal)

    async def add_address(self, address: NewAddress) -> Addition:
        """See Store."""
        return await self._writer.write(additions.add_address, address)

    async def held_of(self, did: str, hashed: str) -> dict[str, list[dict[str, object]]]:
        """See Store. Reads on a thread, because a person may have many rows."""
        return await asyncio.to_thread(persons.held, self._file, did, hashed)

    async def hide_names(self, pseudonyms: Pseudonyms, before: float) -> int:
        """See Store. Names are replaced in parts, so that no other write waits long."""
        return await upkeep.in_parts(self._writer, partial(persons.hide_names, pseudonyms), before)

    # -- life ------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """See Store."""
        await self._writer.close()
        self._writer_connection.close()
        self._marker.close()
        self._reader.close()


def _current(file: Path, chain: int | None) -> sqlite3.Connection:
    """Open the file with today's schema. Raises OtherChain, SchemaTooNew, StoreUnavailable or sqlite3.DatabaseError."""
    connection = connect(file)
    try:
        refuse_moved(connection, file)
        migrate(connection)
        if chain is not None:
            keep_chain(connection, chain)
    except BaseException:
        connection.close()
        raise
    return connection


def _why_not_made(file: Path, error: OSError) -> str:
    if not file.parent.is_dir():
        return "there is no such folder; make it, or correct HOLDFAST_DATABASE_URL"
    return f"{file_words(error)}; name another folder (HOLDFAST_DATA_DIR)"


def _denied(file: Path) -> str:
    """Return what SQLite's words leave out: that another user, such as root, made the file."""
    if not file.exists() or os.access(file, os.R_OK | os.W_OK):
        return ""
    return f" (it belongs to user {file.stat().st_uid}, and this process runs as {os.geteuid()})"
