"""The Store port: the methods with which the service stores and reads data, whose values are in `values.py`.

`kinds.py` lists the implementations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from holdfast.rules.additions import Addition
    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.one_time_codes import CountedAttempt
    from holdfast.rules.pseudonyms import Pseudonyms
    from holdfast.rules.quotas import Counted, Quota
    from holdfast.rules.registration import Claim, Confirmation, Move, RegistrationFacts, SessionFacts
    from holdfast.service.store.administration import Administration
    from holdfast.service.store.outbox import Outbox
    from holdfast.service.store.persons import NewAddress, Removal, Removed
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
        RegisteredDid,
        StoredResponse,
        StoreGauges,
    )


class StoreUnavailable(Exception):
    """The store cannot be reached or cannot write.

    A write may have succeeded nevertheless if only the response was lost.
    """


class StoreUnreachable(StoreUnavailable):
    """The database server does not respond yet: it is starting or failing over, or the network is down."""


class Overtaken(Exception):
    """Another repeat of the same request has done the work or counted the attempt. This repeat changed nothing."""


Charge = object
"""Identifies a counted event for the store that returned it."""


class Store(Protocol):
    """All stored data. Each method is one atomic step, whose effect survives `kill -9` once the method has returned.

    Every method raises StoreUnavailable if the store cannot be reached. A rule that is passed as `decide` is called
    with facts and may refuse by raising an exception, in which case nothing changes. What the rule admits is written
    only if its facts are still true then; otherwise the store calls the rule again with newer facts. Instead of
    calling a SessionRule or RegistrationRule, a store may apply the rule's bounds. A method that takes the response
    `response` stores it in the same step as the effect that it reports. If the response of another repeat is already
    stored, the method changes nothing and raises Overtaken.
    """

    @property
    def snapshots(self) -> SnapshotIndex:
        """The index of stored snapshots."""
        ...

    @property
    def recoveries(self) -> Recoveries:
        """Requests for the service's signature as a guardian, and mails about recoveries."""
        ...

    @property
    def administration(self) -> Administration:
        """Operators' tasks."""
        ...

    @property
    def outbox(self) -> Outbox:
        """Events that wait for their delivery."""
        ...

    @property
    def sponsorships(self) -> SponsorshipStore:
        """What the service's own sponsor has reserved and spent."""
        ...

    async def ping(self) -> None:
        """Check that the store responds; GET /api/status reports the result as `database`."""
        ...

    async def require_room(self) -> None:
        """Raise StoreUnavailable if the database's disk is full, as far as a write does not notice it already."""
        ...

    async def claim_of(self, channel: str, key: str) -> Claim | None:
        """Return who holds an identifier."""
        ...

    async def is_claimed(self, channel: str, key: str) -> bool:
        """Return whether an identifier is claimed.

        This must be fast, because registration pages cause a call on each keystroke.
        """
        ...

    async def find_credential(self, credential: str) -> RegisteredDid | None:
        """Return the registration of a credential ID in canonical form, unless the chain refused the registration."""
        ...

    async def registrations(self, ip: str) -> tuple[int, int]:
        """Return how many sessions were ever created from this address, and how many from all addresses."""
        ...

    async def verified_at(self, identifier: Identifier) -> float | None:
        """Return when the identifier was verified, in seconds since the epoch."""
        ...

    async def open_session(
        self, session: NewSession, decide: Callable[[SessionFacts], None], response: StoredResponse | None = None
    ) -> None:
        """Store a session if `decide` admits it, and count the session for its address."""
        ...

    async def register(
        self,
        registration: NewRegistration,
        decide: Callable[[RegistrationFacts], Move],
        response: StoredResponse | None = None,
    ) -> None:
        """Store a registration, and apply the move that `decide` returns to the identifier's claim.

        CLAIM creates the claim and counts it for the address. DISPLACE transfers the claim to the
        registration's DID. CONTINUE and REPLACE leave the claim with its DID; REPLACE also removes one of its
        credentials without a signature: an unconfirmed one if there is one, and of several the newest.
        """
        ...

    async def add_transaction(self, late: LateTransaction, response: StoredResponse | None = None) -> bool:
        """Record the transaction of a registration, which is confirmed from then on.

        Returns False, and changes nothing, unless the registration is still pending and still that of this credential,
        identifier and DID with the transaction hash `instead_of`.
        """
        ...

    async def charge(self, quotas: Sequence[Quota], now: float) -> Charge:
        """Count one event in all these windows.

        If a window is full, raises Refused(RATE_LIMITED) and counts nothing.
        """
        ...

    async def give_back(self, charge: Charge, what: Collection[Counted]) -> None:
        """Remove a counted event from its windows of these kinds. A second call changes nothing."""
        ...

    async def keep_code(self, code: NewCode, response: StoredResponse | None = None) -> None:
        """Store the hash of a code that was sent, in place of any older code.

        If an older code's `same_until` has not passed and its hash is the same, it was sent once more: its attempts and
        its requester remain.
        """
        ...

    async def count_attempt(self, attempt: NewAttempt) -> CountedAttempt | None:
        """Count one attempt durably, before the code is compared, and return the current code; None if none exists.

        Raises Refused(RATE_LIMITED) if a window of the address is full.
        """
        ...

    async def consume_code(
        self, identifier: Identifier, code_id: int, now: float, response: StoredResponse | None = None
    ) -> bool:
        """Consume the code and mark the identifier as verified; False if another request did so first."""
        ...

    async def mark_verified(self, identifier: Identifier, now: float, response: StoredResponse | None = None) -> None:
        """Mark an identifier as verified after a provider has checked its code."""
        ...

    async def begin(self, repeat: NewRepeat) -> IdempotencyState:
        """Record that a request has begun, or return the state of an earlier request with the same key.

        If the earlier request has the same body, no response and an expired lease, the caller takes it over. Raises
        Refused(RATE_LIMITED) if the key is new and a window is full.
        """
        ...

    async def finish(self, key: bytes, answer: bytes | None) -> bytes | None:
        """Store the sealed response unless one is stored, and end the lease. Returns the stored response.

        If `answer` is None, nothing is stored, and the next repeat does the work again.
        """
        ...

    async def code_of(self, identifier: Identifier) -> CountedAttempt | None:
        """Return the current code with its number of attempts, without counting one."""
        ...

    async def due(self, now: float, limit: int) -> list[PendingRegistration]:
        """Return registrations to check on the chain: one per identifier, most overdue first, and then the others."""
        ...

    async def put_off(self, times: Sequence[tuple[str, float]]) -> None:
        """Record that these credentials were checked, and when each is due again."""
        ...

    async def settle(self, credential: str, outcome: Confirmation, block_number: int | None, now: float) -> bool:
        """Store the outcome of a registration; False if one was already stored."""
        ...

    async def expire(self, now: float) -> int:
        """Remove data that no rule reads any more; returns how many rows were removed."""
        ...

    async def take_lease(self, name: str, holder: str, now: float, ttl_s: float) -> bool:
        """Acquire or renew a named lease; False while another holder has it."""
        ...

    async def end_lease(self, name: str, holder: str) -> None:
        """End a named lease, if this holder has it, so that another may take it at once."""
        ...

    async def holds_lease(self, name: str, holder: str, now: float) -> bool:
        """Return whether this holder has the named lease now."""
        ...

    async def release(self, channel: str, key: str, now: float) -> bool:
        """Free an identifier and delete its data; False if it is not claimed."""
        ...

    async def revoke_credential(self, credential: str, now: float) -> bool:
        """Remove one credential's registration; False if none exists."""
        ...

    async def describe(self, channel: str, key: str) -> dict[str, object] | None:
        """Return everything stored about one identifier, for the operator."""
        ...

    async def take_back(self, removal: Removal) -> Removed:
        """Remove what a person takes back, once for each token: a repeat gets the first result and changes nothing.

        Nothing of another DID is removed. Codes, verification and the audit's rows without a DID since the claim are a
        registered identifier's; a session alone removes its claim. In the audit's rows, hashes replace name and DID.
        """
        ...

    async def add_address(self, address: NewAddress) -> Addition:
        """Make an address a DID's if the rule `addition_of` admits it, once for each token; return what it decided.

        The address is registered without a credential, consumes the attestation, and counts for no client address.
        """
        ...

    async def held_of(self, did: str, hashed: str) -> dict[str, list[dict[str, object]]]:
        """Return all rows about a DID as of one moment, by kind. `hashed` is the DID's hash in the audit."""
        ...

    async def hide_names(self, pseudonyms: Pseudonyms, before: float) -> int:
        """Replace names and DIDs in the audit's rows from before this time by their hashes; return how many rows."""
        ...

    async def gauges(self, now: float) -> StoreGauges:
        """Return figures for operators. The cost does not grow with the database."""
        ...

    def update_gauges(self) -> None:
        """Set the gauges for waiting requests and for connections. Never waits."""
        ...

    async def close(self) -> None:
        """Finish accepted writes, then close the store."""
        ...
