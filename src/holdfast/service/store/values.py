"""The values that go into the Store port and come out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.addresses import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.quotas import Quota
    from holdfast.rules.registration import Confirmation
    from holdfast.wire.requests import RegisterDid


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRepeat:
    """A request with an `Idempotency-Key`, whose response can be stored for repeats.

    Attributes:
        key: hash of the endpoint and the `Idempotency-Key`.
        bodies: keyed hashes of the body, one for each signing key; the first is stored, all are recognised.
        lease_s: seconds after which another request may take over the work if there is no response.
        retention_s: seconds for which the response is stored.
        quotas: windows against which a new key counts.
    """

    key: bytes
    bodies: tuple[bytes, ...]
    now: float
    lease_s: float
    retention_s: float
    quotas: Sequence[Quota]


@dataclass(frozen=True, slots=True)
class IdempotencyState:
    """The state of a request with an `Idempotency-Key`.

    Attributes:
        mine: whether the caller must do the work now.
        body: keyed hash of the first request's body.
        answer: the sealed response; None until one is stored.
        attempt: the numbers of the code and of the attempt, if an earlier try of the request has counted an attempt.
    """

    mine: bool
    body: bytes
    answer: bytes | None
    attempt: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The sealed response to a request, stored in the same transaction as the effect that it reports."""

    key: bytes
    answer: bytes


class NewSession(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A session to store. The address limit applies to `ip`; `now` is in seconds since the epoch.

    Bans apply to the identifier, the DID and `network`: an IPv4 address, an IPv6 /64, or neither.
    """

    identifier: Identifier
    did: str
    ip: str
    now: float
    network: str = NOWHERE


class NewRegistration(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A registration to store: the request in canonical form, and what the service knows about it.

    Attributes:
        request: the request; its credential ID is canonical, its block number the one to store.
        attestation: signature of the attestation and its expiry, to be remembered as used; None for handles.
        signed: whether the DID's key signed the request.
        network: what bans apply to, with the identifier and the DID: an IPv4 address, an IPv6 /64, or neither.
    """

    request: RegisterDid
    identifier: Identifier
    attestation: tuple[bytes, float] | None
    confirmation: Confirmation
    ip: str
    now: float
    signed: bool = False
    network: str = NOWHERE


class LateTransaction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A transaction that proves a stored registration, which stated none.

    Attributes:
        credential: the registration's credential ID in canonical form.
        instead_of: the text with which the registration states that it has no transaction.
        block_number: the block that contains the transaction.
        now: seconds since the epoch.
    """

    credential: str
    identifier: Identifier
    did: str
    instead_of: str
    tx_hash: str
    smart_account: str | None
    block_number: int
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCode:
    """A code that was sent: `digest` is its keyed hash, `ip` the address that requested it; times are in seconds.

    Until `same_until`, further messages to the identifier contain the same code.
    """

    identifier: Identifier
    digest: bytes
    ip: str
    now: float
    expires_at: float
    same_until: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAttempt:
    """An attempt to enter an identifier's code. At most `limit` are allowed; each also counts against `quotas`.

    `repeat` is the key of a NewRepeat; the store records there that this request's attempt was counted.
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
    """A registration that the chain has not confirmed or refused yet.

    Attributes:
        key: canonical key of the identifier.
        attempts: how often the chain was queried about it.
    """

    credential: str
    did: str
    tx_hash: str
    smart_account: str | None
    channel: str
    key: str
    created_at: float
    attempts: int


COUNTED_PENDING = 10_000  # a longer backlog is not counted further


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreGauges:
    """Figures about the store for operators.

    Attributes:
        pending: registrations waiting for the chain, at most COUNTED_PENDING.
        overdue_s: how late the most overdue check is, in seconds; 0 if none is due.
        standbys: for PostgreSQL, how many standbys are connected in each state (`sync`, `quorum`, `potential`,
            `async`; `unknown` if the server hides it from this role); None for other databases.
        standby_required: whether commits wait for a standby.
        events: events that wait for delivery, at most COUNTED_PENDING.
        oldest_event_s: the age of the oldest of them, in seconds; 0 without one.
        clock_offset_s: this machine's clock minus the database server's; None for a database without a server.
    """

    pending: int
    overdue_s: float
    events: int = 0
    oldest_event_s: float = 0.0
    standbys: dict[str, int] | None = None
    standby_required: bool = False
    clock_offset_s: float | None = None


def since(at: float | None, now: float) -> float:
    """Return how long ago `at` was, in seconds; 0 if it is None or later than `now`."""
    return 0.0 if at is None else max(0.0, now - at)
