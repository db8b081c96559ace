"""The states of an identifier: none, session, (code sent, verified), registered, confirmed (decisions, section 5)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.bans import refuse_banned
from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import DAY_S, NETWORK_FACTOR, RESERVED_FOR_REQUESTER
from holdfast.wire.errors import (
    ATTESTATION_USED,
    CREDENTIAL_ALREADY_REGISTERED,
    CREDENTIAL_LIMIT_REACHED,
    IDENTIFIER_RESERVED,
    IDENTIFIER_TAKEN,
    IP_LIMIT_REACHED,
    ErrorRow,
    Refused,
)

if TYPE_CHECKING:
    from holdfast.rules.limits import Ceilings, Limits


class Stage(StrEnum):
    """The state of an identifier's claim."""

    SESSION = "session"
    REGISTERED = "registered"


class Confirmation(StrEnum):
    """What the chain shows about a registration."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REFUSED = "refused"


class Claim(msgspec.Struct, frozen=True, gc=False):
    """The current holder of an identifier."""

    did: str
    stage: Stage


class SessionFacts(msgspec.Struct, frozen=True, gc=False):
    """The facts, all as of one moment, on which the admission of a session depends.

    Attributes:
        claim: who holds the identifier.
        registrations_from_ip: all sessions ever created from the address.
        registrations_from_network: those from the /48 around it, if it is an IPv6 address.
        banned: the subject of a ban that concerns the request; None without one.
    """

    claim: Claim | None
    registrations_from_ip: int
    registrations_from_network: int = 0
    banned: str | None = None


class RegistrationFacts(msgspec.Struct, frozen=True, gc=False):
    """The facts, all as of one moment, on which the admission of a DID's registration depends.

    Attributes:
        credentials: the number that the identifier has, without those that the chain refused.
        unconfirmed: how many of them wait for the chain.
        signed: how many of them were registered with a signature by the DID's key.
        signed_unconfirmed: how many of the signed ones wait for the chain.
        from_opener: whether the request comes from the address that opened the identifier's session.
        banned: the subject of a ban that concerns the request; None without one.
    """

    claim: Claim | None
    registrations_from_ip: int
    credential_registered: bool
    attestation_used: bool
    registrations_from_network: int = 0
    credentials: int = 0
    unconfirmed: int = 0
    signed: int = 0
    signed_unconfirmed: int = 0
    from_opener: bool = False
    banned: str | None = None


class RegistrationRequest(msgspec.Struct, frozen=True, gc=False):
    """A request to register this identifier for this DID.

    Attributes:
        confirmed: whether the registration is final on the chain.
        signed: whether the DID's key signed the request.
        barred: why the service takes no new person with this request, such as a missing invitation; None if it does.
    """

    channel: Channel
    did: str
    reserved: bool
    confirmed: bool = False
    signed: bool = False
    barred: ErrorRow | None = None


class Move(StrEnum):
    """What the store must write for an admitted registration."""

    CLAIM = "claim"  # no session exists: create one and count it
    DISPLACE = "displace"  # the verified owner takes over the session of another DID
    CONTINUE = "continue"  # the session or registration belongs to this DID
    REPLACE = "replace"  # likewise, and a credential without a signature makes way for one with a signature


def unavailable(*, reserved: bool, claimed: bool) -> ErrorRow | None:
    """Return why an identifier is not available, checking in the interface's order, or None if it is available."""
    if reserved:
        return IDENTIFIER_RESERVED
    return IDENTIFIER_TAKEN if claimed else None


def admit_session(request: RegistrationRequest, facts: SessionFacts, limits: Limits) -> None:
    """Refuse a session if necessary. The interface's order of checks is: reserved, taken, address limit.

    Whether the service takes new people is checked before the limit, and after what the interface documents.

    A handle that was registered before it became reserved remains its DID's: to that DID it is only taken. A ban comes
    first.
    """
    refuse_banned(facts.banned)
    own = facts.claim is not None and facts.claim.did == request.did
    row = unavailable(reserved=request.reserved and not own, claimed=facts.claim is not None)
    if row is not None:
        raise Refused(row)
    if request.barred is not None:
        raise Refused(request.barred)
    limit = limits.max_registrations_per_ip
    if facts.registrations_from_ip >= limit or facts.registrations_from_network >= NETWORK_FACTOR * limit:
        # The limit per address never expires and only an operator can lift it, so there is no point in retrying before
        # tomorrow.
        raise Refused(IP_LIMIT_REACHED, retry_after_s=DAY_S, limit="registrations")


def admit_registration(
    request: RegistrationRequest, facts: RegistrationFacts, limits: Limits, ceilings: Ceilings
) -> Move:
    """Refuse a registration, or return what the store must write for it.

    The attestation's form, owner and age have already been checked. This function checks that the credential is new,
    that the attestation is unused, and who holds the identifier.
    """
    refuse_banned(facts.banned)
    if facts.credential_registered:
        raise Refused(CREDENTIAL_ALREADY_REGISTERED)
    if facts.attestation_used:
        raise Refused(ATTESTATION_USED)
    if facts.claim is None:
        session = SessionFacts(None, facts.registrations_from_ip, facts.registrations_from_network)
        admit_session(request, session, limits)
        return Move.CLAIM
    if facts.claim.did == request.did:
        return _admit_credential(request, facts, ceilings)
    if request.channel is not Channel.HANDLE and facts.claim.stage is Stage.SESSION:
        if request.barred is not None:
            raise Refused(request.barred)
        return Move.DISPLACE  # a session proves nothing, but the attestation's code does
    raise Refused(IDENTIFIER_TAKEN)


def _admit_credential(request: RegistrationRequest, facts: RegistrationFacts, ceilings: Ceilings) -> Move:
    """Refuse a credential beyond the identifier's limit.

    The limit exists because anyone who knows a handle and its DID can request another credential for the handle. One
    credential of a handle is reserved for the address that opened the session. Credentials without a signature by the
    DID's key, which may be strangers', do not count against one with such a signature: if necessary, one of them is
    removed for it.
    """
    proven = request.channel is not Channel.HANDLE  # by a code
    reserved = 0 if request.signed or facts.from_opener or proven else RESERVED_FOR_REQUESTER
    if _has_room(request, facts.credentials, facts.unconfirmed, ceilings, reserved):
        return Move.CONTINUE
    if request.signed and _has_room(request, facts.signed, facts.signed_unconfirmed, ceilings, reserved):
        return Move.REPLACE
    # Unconfirmed credentials are confirmed or refused within a day, according to the chain. Other credentials are
    # removed only by an operator or by one with a signature.
    raise Refused(CREDENTIAL_LIMIT_REACHED, retry_after_s=DAY_S, limit="credentials")


def _has_room(
    request: RegistrationRequest, credentials: int, unconfirmed: int, ceilings: Ceilings, reserved: int
) -> bool:
    may_wait = request.confirmed or unconfirmed < ceilings.unconfirmed_per_identifier - reserved
    return may_wait and credentials < ceilings.credentials_per_identifier - reserved


class SessionBounds(msgspec.Struct, frozen=True, gc=False):
    """The counts for which a session for a free identifier is admitted: at least the lower and below the upper bound.

    Attributes:
        own_from, own_below: for the sessions ever created from the address.
        around_from, around_below: for those from the network around it.
    """

    own_from: int
    own_below: int
    around_from: int
    around_below: int

    @classmethod
    def exactly(cls, facts: SessionFacts) -> SessionBounds:
        """Return bounds that only the counts in `facts` satisfy."""
        own, around = facts.registrations_from_ip, facts.registrations_from_network
        return cls(own_from=own, own_below=own + 1, around_from=around, around_below=around + 1)


class RegistrationBounds(msgspec.Struct, frozen=True, gc=False):
    """The counts below which a registration is admitted, and whether the name is reserved and the request signed."""

    reserved: bool
    signed: bool
    own_below: int
    around_below: int
    credentials_below: int
    unconfirmed_below: int


class SessionRule(msgspec.Struct, frozen=True, gc=False):
    """`admit_session` for one request, which a database can apply by its bounds as well."""

    request: RegistrationRequest
    limits: Limits

    def __call__(self, facts: SessionFacts) -> None:
        """Raise Refused as `admit_session` does."""
        admit_session(self.request, facts, self.limits)

    def bounds(self) -> SessionBounds:
        """Return the rule as bounds on counts. No count satisfies the bounds of a reserved name or a barred request."""
        own = 0 if self.request.reserved or self.request.barred else self.limits.max_registrations_per_ip
        return SessionBounds(own_from=0, own_below=own, around_from=0, around_below=NETWORK_FACTOR * own)


class RegistrationRule(msgspec.Struct, frozen=True, gc=False):
    """`admit_registration` for one request, which a database can apply by its bounds as well."""

    request: RegistrationRequest
    limits: Limits
    ceilings: Ceilings

    def __call__(self, facts: RegistrationFacts) -> Move:
        """Return what `admit_registration` returns for this request, or raise Refused."""
        return admit_registration(self.request, facts, self.limits, self.ceilings)

    def bounds(self) -> RegistrationBounds | None:
        """Return the rule as bounds on counts; None for a barred request, which bounds cannot express."""
        if self.request.barred is not None:
            return None
        own = self.limits.max_registrations_per_ip
        return RegistrationBounds(
            reserved=self.request.reserved,
            signed=self.request.signed,
            own_below=own,
            around_below=NETWORK_FACTOR * own,
            credentials_below=self.ceilings.credentials_per_identifier,
            unconfirmed_below=self.ceilings.unconfirmed_per_identifier,
        )
