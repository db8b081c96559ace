"""The life of one identifier: none, session, (code sent, verified), registered, confirmed (decisions, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import DAY_S
from holdfast.wire.errors import (
    ATTESTATION_USED,
    CREDENTIAL_ALREADY_REGISTERED,
    IDENTIFIER_RESERVED,
    IDENTIFIER_TAKEN,
    IP_LIMIT_REACHED,
    Refused,
)

if TYPE_CHECKING:
    from holdfast.rules.limits import Limits


class Stage(StrEnum):
    """How far an identifier's claim has come."""

    SESSION = "session"
    REGISTERED = "registered"


class Confirmation(StrEnum):
    """What the chain says of one registration."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Claim:
    """Who holds an identifier now."""

    did: str
    stage: Stage


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What must be known, at one moment, to decide on a session."""

    claim: Claim | None
    registrations_from_ip: int


@dataclass(frozen=True, slots=True)
class RegistrationFacts:
    """What must be known, at one moment, to decide on a DID's registration."""

    claim: Claim | None
    registrations_from_ip: int
    credential_registered: bool
    attestation_used: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """What a request asks for: this identifier for this DID."""

    channel: Channel
    did: str
    reserved: bool


class Move(StrEnum):
    """What is written once a registration is admitted."""

    CLAIM = "claim"  # there was no session: make one, and charge it
    DISPLACE = "displace"  # the proven owner takes a squatter's session over
    CONTINUE = "continue"  # the session or registration is this DID's own


def admit_session(wish: Wish, facts: SessionFacts, limits: Limits) -> None:
    """Refuse a session, in the interface's order of checks: reserved, taken, limit of the address."""
    if wish.reserved:
        raise Refused(IDENTIFIER_RESERVED)
    if facts.claim is not None:
        raise Refused(IDENTIFIER_TAKEN)
    if facts.registrations_from_ip >= limits.max_registrations_per_ip:
        # The limit is for life: only an operator can lift it, so a client need not ask again before tomorrow.
        raise Refused(IP_LIMIT_REACHED, retry_after_s=DAY_S)


def admit_registration(wish: Wish, facts: RegistrationFacts, limits: Limits) -> Move:
    """Refuse a registration, or say which move it is.

    The attestation's own form, owner and age were judged before; here come the credential's uniqueness, the
    attestation's single use, and whose the identifier is.
    """
    if facts.credential_registered:
        raise Refused(CREDENTIAL_ALREADY_REGISTERED)
    if facts.attestation_used:
        raise Refused(ATTESTATION_USED)
    if facts.claim is None:
        admit_session(wish, SessionFacts(None, facts.registrations_from_ip), limits)
        return Move.CLAIM
    if facts.claim.did == wish.did:
        return Move.CONTINUE
    if wish.channel is not Channel.HANDLE and facts.claim.stage is Stage.SESSION:
        return Move.DISPLACE  # a session proves nothing; the code behind the attestation does
    raise Refused(IDENTIFIER_TAKEN)
