"""The Recoveries port: requests for the service's signature as a guardian, and mails about recoveries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.one_time_codes import CountedAttempt
    from holdfast.rules.quotas import Quota

RETENTION_S = 30 * 86400.0  # how long requests and mails stay after their last use
MOST_STATED = 100  # DIDs that state the same account
REQUESTED, STARTED = "asked", "started"  # kinds of mails
FINISHED = "finished"  # not mailed


class NewRecovery(msgspec.Struct, frozen=True, kw_only=True):
    """A request whose code was sent.

    Attributes:
        request: its number, 32 random hex digits.
        identifier: where the code was sent; it belongs to `did`.
        account: the account to recover, in EIP-55 form.
        nonce: the number of the recovery, by which the chain refuses it once another one was started or cancelled.
        owners: the new owners (`rules.recovery.owners_text`).
        digest: keyed hash of the code.
    """

    request: str
    identifier: Identifier
    did: str
    account: str
    nonce: int
    owners: str
    digest: bytes
    now: float
    expires_at: float


class StartedRecovery(msgspec.Struct, frozen=True, kw_only=True):
    """A recovery that was started on a chain, of an account of `did`. `until`: from when it can be finished."""

    chain_id: int
    account: str
    nonce: int
    did: str
    until: float

    @property
    def name(self) -> str:
        """Identify the recovery, so that an address gets one mail about it."""
        return f"{self.chain_id}:{self.account}:{self.nonce}"


class FinishedRecovery(msgspec.Struct, frozen=True, kw_only=True):
    """A finished recovery of an account of `did`. `generation`: how many recoveries the account has finished."""

    chain_id: int
    account: str
    generation: int
    did: str

    @property
    def name(self) -> str:
        """Identify the recovery, so that it is told once."""
        return f"{self.chain_id}:{self.account}:finished {self.generation}"


class Mail(NamedTuple):
    """A mail to send about a recovery.

    Attributes:
        name: identifies the recovery.
        recipient: canonical e-mail address.
        kind: REQUESTED or STARTED.
        until: when the service signs, or the recovery can be finished; seconds since the epoch.
        request: of REQUESTED, the number that stops it.
    """

    name: str
    recipient: str
    kind: str
    account: str
    until: float
    request: str


class Signable(NamedTuple):
    """A confirmed request: from when the service signs, and the DID whose identifier was verified."""

    ready_at: float
    did: str


class Recoveries(Protocol):
    """Each method is one atomic step; see Store.

    An identifier belongs to a DID only if the DID's own key signed one of its registrations or added it (`signed` of
    credentials and identifiers). Otherwise a stranger's address could be registered for someone else's DID, and would
    then recover that person's account.
    """

    async def holder(self, identifier: Identifier) -> str | None:
        """Return the DID to which an identifier belongs."""
        ...

    async def keep(self, new: NewRecovery) -> None:
        """Store a request, and an audit row."""
        ...

    async def count_attempt(
        self, request: str, quotas: Sequence[Quota], now: float, limit: int
    ) -> CountedAttempt | None:
        """Count an attempt at a request's code, durably; None without a request that waits for its code.

        Raises Refused(RATE_LIMITED) if a window is full.
        """
        ...

    async def confirm(self, request: str, now: float, ready_at: float) -> str | None:
        """Record that the code was entered, with an audit row and a mail to each e-mail address of the DID.

        Of several calls one returns the account; the others, and one after the identifier left the DID, None.
        """
        ...

    async def stop(self, request: str, now: float) -> bool:
        """Remove a request, with an audit row; False without one."""
        ...

    async def signable(self, account: str, owners: str, nonce: int, now: float) -> Signable | None:
        """Return the newest confirmed request for this recovery of an account whose identifier is still the DID's.

        If its waiting period is over, one audit row records that the service signed.
        """
        ...

    async def note_started(self, started: StartedRecovery, now: float) -> int:
        """Note a mail to each e-mail address of the DID that has none about this recovery; return how many."""
        ...

    async def note_finished(self, finished: FinishedRecovery, now: float) -> int:
        """Write an audit row for each identifier of the DID, once for each recovery; return how many.

        A row among the mails, which is never sent, says that it was told; none for a DID without identifiers.
        """
        ...

    async def take_mails(self, now: float, lease_s: float, limit: int) -> list[Mail]:
        """Return mails that wait to be sent.

        No one takes them again until the lease is over and they are twice as old; if a clock that ran ahead put one off
        further, it is taken at once. So a mail that may have arrived, or whose process ended, goes out ever more
        rarely, from any process: at most fourteen times in RETENTION_S if the lease is five minutes.
        """
        ...

    async def retry_mail(self, mail: Mail, due_at: float) -> None:
        """Let a mail that was certainly not sent be taken from this time on."""
        ...

    async def sent(self, mail: Mail, now: float) -> None:
        """Record that a mail was sent or is not tried again."""
        ...

    async def dids_of(self, account: str) -> list[str]:
        """Return DIDs that state an account as theirs, in registrations that they signed, oldest first."""
        ...

    async def expire(self, now: float) -> int:
        """Remove what no rule reads any more; return how many rows."""
        ...
