"""What a person, or an operator for a person, takes back from the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from holdfast.rules.addresses import NOWHERE

if TYPE_CHECKING:
    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.pseudonyms import Pseudonyms


class Removed(NamedTuple):
    """How many rows of each kind a removal deleted."""

    identifiers: int = 0
    credentials: int = 0
    snapshots: int = 0
    pins: int = 0

    def plus(self, other: Removed) -> Removed:
        """Return the sums."""
        return Removed(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def text(self) -> str:
        """Return the form in which a used token's row stores the numbers."""
        return ",".join(map(str, self))

    @classmethod
    def of_text(cls, text: str) -> Removed:
        """Return the numbers from `text()`."""
        return cls(*map(int, text.split(",")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What is taken back: a credential, an identifier, or everything of the DID if both are None.

    Attributes:
        did: whose; the removal changes nothing that another DID holds.
        credential: a credential ID in canonical form.
        name: an identifier's channel and canonical key.
        now: seconds since the epoch.
        pseudonyms: hashes the names in the history of what is removed.
        token: digest of the token that asked, or random bytes for an operator; a repeat gets the first result.
        until: how long that is remembered, in seconds since the epoch.
    """

    did: str
    credential: str | None = None
    name: tuple[str, str] | None = None
    now: float
    pseudonyms: Pseudonyms
    token: bytes
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAddress:
    """An e-mail address or phone number that a person adds to their DID.

    Attributes:
        did: whose it becomes.
        identifier: the address.
        attestation: the signature, and until when it is remembered as used, in seconds since the epoch.
        ip: the client address, or its hash, for the address's row.
        now: seconds since the epoch.
        token: digest of the token that asked; a repeat gets the first result.
        until: how long that is remembered, in seconds since the epoch.
        most: how many addresses a DID may hold.
        network: what bans apply to, with the identifier and the DID: an IPv4 address, an IPv6 /64, or neither.
    """

    did: str
    identifier: Identifier
    attestation: tuple[bytes, float]
    ip: str
    now: float
    token: bytes
    until: float
    most: int
    network: str = NOWHERE
