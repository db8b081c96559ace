"""The Store port: what the service stores, with input and output values. `kinds.py` lists the implementations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.one_time_codes import CountedAttempt
    from holdfast.rules.quotas import Counted, Quota
    from holdfast.rules.registration import Claim, Confirmation, Move, RegistrationFacts, SessionFacts
    from holdfast.service.store.snapshot_index import SnapshotIndex
    from holdfast.wire.requests import RegisterDid


class StoreUnavailable(Exception):
    """The store cannot be reached or cannot write. A write whose response was lost may nevertheless have succeeded."""


class StoreUnreachable(StoreUnavailable):
    """The database server does not respond but may later: it is starting or failing over, or the network is down."""


class Overtaken(Exception):
    """Another repeat of the same request did the work or counted the attempt; this one changed nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRepeat:
    """A request with an `Idempotency-Key`, whose response can be stored for repeats.

    Attributes:
        key: hash of the endpoint and the `Idempotency-Key`.
        bodies: keyed hashes of the body, one for each signing key; the first is stored, all are recognised.
        lease_s: seconds after which another request may take over the work if there is no response.
        kept_s: seconds for which the response is stored.
        quotas: windows against which a new key counts.
    """

    key: bytes
    bodies: tuple[bytes, ...]
    now: float
    lease_s: float
    kept_s: float
    quotas: Sequence[Quota]


@dataclass(frozen=True, slots=True)
class Begun:
    """What the store knows about a request.

    Attributes:
        mine: whether the caller is to do the work now.
        body: keyed hash of the first request's body.
        answer: the sealed response; None while there is none.
        attempt: the numbers of code and attempt, if an earlier try has counted one.
    """

    mine: bool
    body: bytes
    answer: bytes | None
    attempt: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The sealed response to a request, stored in the same transaction as the effect that it reports."""

    key: bytes
    answer: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """A session to store. The address limit applies to `ip`; `now` is in seconds since the epoch."""

    identifier: Identifier
    did: str
    ip: str
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRegistration:
    """A DID's registration to store: the request in canonical form, and the service's facts about it.

    Attributes:
        asked: the request; its credential ID is canonical, its block number the one to store.
        attestation: signature of the attestation and its expiry, to be remembered as used; None for handles.
    """

    asked: RegisterDid
    identifier: Identifier
    attestation: tuple[bytes, float] | None
    confirmation: Confirmation
    ip: str
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCode:
    """A code that was sent: `digest` is its keyed hash, `ip` the address that requested it, times as above."""

    identifier: Identifier
    digest: bytes
    ip: str
    now: float
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAttempt:
    """An attempt at an identifier's code, of at most `limit`, which also counts against its address's windows.

    `repeat` is the key of a NewRepeat; the store notes there that this request's attempt was counted.
    """

    identifier: Identifier
    ip: str
    now: float
    limit: int
    quotas: Sequence[Quota]
    repeat: bytes | None = None


class RegisteredDid(msgspec.Struct, frozen=True, gc=False):
    """The registration of a credential ID."""

    identifier: str
    channel: str
    did: str
    tx_hash: str
    block_number: int | None
    smart_account: str | None
    created_at: float


@dataclass(frozen=True, slots=True)
class PendingRegistration:
    """A registration that the chain has not settled yet.

    Attributes:
        key: canonical key of the identifier.
        asked: how often the chain was queried about it.
    """

    credential: str
    did: str
    tx_hash: str
    smart_account: str | None
    channel: str
    key: str
    created_at: float
    asked: int


COUNTED_PENDING = 10_000  # a longer backlog is not counted further


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """The store's figures that operators watch.

    Attributes:
        pending: registrations waiting for the chain, at most COUNTED_PENDING.
        overdue_s: how late the most overdue check is, in seconds; 0 if none is due.
        standbys: for PostgreSQL, how many standbys are connected in each state (`sync`, `quorum`, `potential`,
            `async`; `unknown` if the server hides it from this role); None for other databases.
        standby_required: whether commits wait for a standby.
        clock_offset_s: this machine's clock minus the database server's; None for a database without a server.
    """

    pending: int
    overdue_s: float
    standbys: dict[str, int] | None = None
    standby_required: bool = False
    clock_offset_s: float | None = None


Charge = object
"""Names one charge of a store's windows; only that store reads it."""


class Store(Protocol):
    """All stored data. Each method is one atomic step, and what it has returned survives `kill -9`.

    Every method raises StoreUnavailable if the store cannot be reached. A rule that is passed in is called with
    facts and may refuse, which changes nothing; what it admits is written only if these are the facts of that very
    step. A store calls it again with newer facts when they are not, and may apply the bounds of a SessionRule or
    RegistrationRule instead. A method that takes `kept` stores that response in the same step if it has the effect
    that the response reports, and raises Overtaken, with nothing changed, if another repeat's response is stored.
    """

    @property
    def snapshots(self) -> SnapshotIndex:
        """The index of stored snapshots."""
        ...

    async def ping(self) -> None:
        """Run a trivial query (interface: Status, `database`)."""
        ...

    async def claim_of(self, channel: str, key: str) -> Claim | None:
        """Return who holds an identifier."""
        ...

    async def is_claimed(self, channel: str, key: str) -> bool:
        """Return whether an identifier is claimed. Registration pages call this at each keystroke."""
        ...

    async def find_credential(self, credential: str) -> RegisteredDid | None:
        """Return the registration of a canonical credential ID, unless the chain refused it."""
        ...

    async def registrations(self, ip: str) -> tuple[int, int]:
        """Return the number of sessions ever created from this address, and in total."""
        ...

    async def verified_at(self, identifier: Identifier) -> float | None:
        """Return when the identifier was verified, in seconds since the epoch."""
        ...

    async def open_session(
        self, session: NewSession, decide: Callable[[SessionFacts], None], kept: KeptAnswer | None = None
    ) -> None:
        """Store a session if `decide` admits it, and count it for its address."""
        ...

    async def register(
        self, registration: NewRegistration, decide: Callable[[RegistrationFacts], Move], kept: KeptAnswer | None = None
    ) -> None:
        """Store a registration as `decide` says.

        CLAIM makes the identifier's claim and charges the address, DISPLACE gives the claim to the registration's DID,
        CONTINUE leaves it with the DID that has it.
        """
        ...

    async def charge(self, quotas: Sequence[Quota], now: float) -> Charge:
        """Count one event in all windows. Raises Refused(RATE_LIMITED) if one is full; then nothing is counted."""
        ...

    async def give_back(self, charge: Charge, what: Collection[Counted]) -> None:
        """Uncount an event in its windows of these kinds. A second call changes nothing."""
        ...

    async def keep_code(self, code: NewCode, kept: KeptAnswer | None = None) -> None:
        """Store the hash of a code that was sent, replacing an older one."""
        ...

    async def count_attempt(self, attempt: NewAttempt) -> CountedAttempt | None:
        """Count one attempt at the current code, durably, before the code is compared; None without a code.

        Raises Refused(RATE_LIMITED) if a window of the address is full.
        """
        ...

    async def consume_code(
        self, identifier: Identifier, code_id: int, now: float, kept: KeptAnswer | None = None
    ) -> bool:
        """Consume the code and mark the identifier as verified; False if another request did so first."""
        ...

    async def mark_verified(self, identifier: Identifier, now: float, kept: KeptAnswer | None = None) -> None:
        """Mark as verified an identifier whose code a provider checked."""
        ...

    async def begin(self, repeat: NewRepeat) -> Begun:
        """Record that a request has begun, or return the state of an earlier one with the same key.

        A request without a response whose lease has ended is taken over, if the body is the same. Raises
        Refused(RATE_LIMITED) if the key is new and a window is full.
        """
        ...

    async def finish(self, key: bytes, answer: bytes | None) -> bytes | None:
        """Store the sealed response unless there is one, end the lease, and return the stored response.

        If no response is given, the next repeat does the work again.
        """
        ...

    async def code_of(self, identifier: Identifier) -> CountedAttempt | None:
        """Return the current code with its attempts so far; counts nothing."""
        ...

    async def due(self, now: float, limit: int) -> list[PendingRegistration]:
        """Return registrations to check on the chain: longest due first, but one per identifier before second ones."""
        ...

    async def put_off(self, times: Sequence[tuple[str, float]]) -> None:
        """Record that these credentials were checked, and when each is due again."""
        ...

    async def settle(self, credential: str, outcome: Confirmation, block_number: int | None, now: float) -> bool:
        """Store the chain's result; False if it was stored before."""
        ...

    async def expire(self, now: float) -> int:
        """Remove data that no rule reads any more; returns how many rows were removed."""
        ...

    async def take_lease(self, name: str, holder: str, now: float, ttl_s: float) -> bool:
        """Acquire or renew a named lease; False while another holder has it."""
        ...

    async def holds_lease(self, name: str, holder: str, now: float) -> bool:
        """Return whether this holder has the named lease now."""
        ...

    async def release(self, channel: str, key: str, now: float) -> bool:
        """Free an identifier and delete its data; False if it is not claimed."""
        ...

    async def revoke_credential(self, credential: str, now: float) -> bool:
        """Remove one credential's registration; False if there is none."""
        ...

    async def describe(self, channel: str, key: str) -> dict[str, Any] | None:
        """Return everything stored about one identifier, for the operator."""
        ...

    async def vitals(self, now: float) -> Vitals:
        """Return what operators watch. Cheap, whatever the size of the database."""
        ...

    def look(self) -> None:
        """Set the gauges for requests waiting for the store and for its connections. Never waits."""
        ...

    async def close(self) -> None:
        """Finish accepted writes, then close."""
        ...
