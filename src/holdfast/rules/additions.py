"""Whether a person may add a verified e-mail address or phone number to their DID (docs/privacy.md)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.registration import Claim, Stage
from holdfast.wire.failures import (
    ADDRESS_TAKEN,
    ATTESTATION_REFUSED,
    DID_NOT_REGISTERED,
    TOO_MANY_ADDRESSES,
    FailureRow,
    SnapshotRefused,
)

if TYPE_CHECKING:
    from typing import Final


class Addition(StrEnum):
    """What the store writes for an added address, or why it writes nothing."""

    CLAIM = "claim"  # it is free: create its row
    TAKE_OVER = "take over"  # its session, of whichever DID, becomes the DID's registered address
    KEEP = "keep"  # the DID holds it already
    UNREGISTERED = "unregistered"
    USED = "used"
    TAKEN = "taken"
    FULL = "full"


class AdditionFacts(msgspec.Struct, frozen=True, gc=False):
    """The facts, all as of one moment, on which an addition depends.

    Attributes:
        registered: whether the DID has a registered credential.
        attestation_used: whether the attestation has registered or added its address before.
        claim: who holds the address.
        addresses: how many registered e-mail addresses and phone numbers the DID holds.
        banned: whether a ban concerns the address, its domain, the DID or the client's network.
    """

    registered: bool
    attestation_used: bool
    claim: Claim | None
    addresses: int
    banned: bool


_REFUSALS: Final[dict[Addition, FailureRow]] = {
    Addition.UNREGISTERED: DID_NOT_REGISTERED,
    Addition.USED: ATTESTATION_REFUSED,
    Addition.TAKEN: ADDRESS_TAKEN,
    Addition.FULL: TOO_MANY_ADDRESSES,
}


def addition_of(did: str, facts: AdditionFacts, most: int) -> Addition:
    """Return what happens to an address that the DID's key and a code prove; `most`: how many a DID may hold."""
    if not facts.registered:
        return Addition.UNREGISTERED
    if facts.attestation_used:
        return Addition.USED
    claim = facts.claim
    if claim is not None and claim.stage is Stage.REGISTERED:
        return Addition.KEEP if claim.did == did else Addition.TAKEN
    if facts.banned:  # as if another had it: who is banned learns no more
        return Addition.TAKEN
    if facts.addresses >= most:
        return Addition.FULL
    return Addition.CLAIM if claim is None else Addition.TAKE_OVER


def require_added(addition: Addition) -> None:
    """Raise SnapshotRefused unless the address is the DID's now."""
    row = _REFUSALS.get(addition)
    if row is not None:
        raise SnapshotRefused(row)
