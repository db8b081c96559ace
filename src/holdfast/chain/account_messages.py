"""What owners and guardians of an account sign once for every chain, as EIP-712 digests (contracts/src/account).

The domain has no chain ID: `EIP712Domain(string name,string version,address verifyingContract)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CHANGE = b"Change(uint8 kind,bytes signer,uint256 value)"
_CHANGES = b"OwnerChanges(uint64 sequence,Change[] changes)" + _CHANGE
_RECOVERY = b"Recovery(uint32 nonce,bytes[] newOwners)"
_CANCELLATION = b"CancelRecovery(uint32 nonce)"
_DOMAIN = b"EIP712Domain(string name,string version,address verifyingContract)"


class ChangeKind(IntEnum):
    """What a change does; the numbers are the contract's."""

    ADD_OWNER = 0
    REMOVE_OWNER = 1
    SET_PRIMARY = 2
    SET_THRESHOLD = 3
    ADD_GUARDIAN = 4
    REMOVE_GUARDIAN = 5
    SET_QUORUM = 6
    SET_DELAY = 7

    @property
    def has_signer(self) -> bool:
        """Whether a change of this kind is about a signer."""
        return self not in (ChangeKind.SET_THRESHOLD, ChangeKind.SET_QUORUM, ChangeKind.SET_DELAY)

    @property
    def has_value(self) -> bool:
        """Whether a change of this kind has a number: an owner's expiry, or what is set."""
        return self is ChangeKind.ADD_OWNER or not self.has_signer


@dataclass(frozen=True, slots=True)
class Change:
    """One change of an account's owners, guardians or terms.

    Attributes:
        kind: what it does.
        signer: the owner or guardian; empty for a change of terms.
        value: an owner's expiry (Unix time, 0 for never), the number of owners or guardians who must sign, or seconds.

    Raises ValueError for a signer or value that the kind does not have.
    """

    kind: ChangeKind
    signer: bytes = b""
    value: int = 0

    def __post_init__(self) -> None:
        if bool(self.signer) != self.kind.has_signer or (self.value and not self.kind.has_value) or self.value < 0:
            raise ValueError(f"{self.kind.name.lower()}: the change's fields do not belong together")

    def to_json(self) -> dict[str, object]:
        """Return the change as the enclave reads it."""
        signer = {"signer": to_hex(self.signer)} if self.kind.has_signer else {}
        value = {"value": self.value} if self.kind.has_value else {}
        return {"kind": self.kind.name.lower(), **signer, **value}

    @classmethod
    def from_json(cls, form: Mapping[str, object]) -> Change:
        """Return the change that `to_json` wrote. Raises ValueError for anything else."""
        kind = ChangeKind.__members__.get(str(form.get("kind")).upper())
        signer, value = form.get("signer", "0x"), form.get("value", 0)
        if kind is None or type(value) is not int or not isinstance(signer, str):
            raise ValueError("not a change of owners")
        return cls(kind, from_hex(signer), value)


def changes_digest(account: str, sequence: int, changes: Sequence[Change]) -> bytes:
    """Return the digest that owners sign for `applyChangesEverywhere`; `sequence` is the account's next one."""
    hashes = b"".join(keccak256(keccak256(_CHANGE) + _words_of(change)) for change in changes)
    return _digest(account, keccak256(_CHANGES) + sequence.to_bytes(32) + keccak256(hashes))


def recovery_digest(account: str, nonce: int, new_owners: Sequence[bytes]) -> bytes:
    """Return the digest that guardians sign for `startRecovery`; `nonce` is the account's `recoveryNonce`."""
    hashes = b"".join(keccak256(signer) for signer in new_owners)
    return _digest(account, keccak256(_RECOVERY) + nonce.to_bytes(32) + keccak256(hashes))


def cancellation_digest(account: str, nonce: int) -> bytes:
    """Return the digest that an owner signs for `cancelRecoverySigned`; `nonce` is the account's `recoveryNonce`."""
    return _digest(account, keccak256(_CANCELLATION) + nonce.to_bytes(32))


def _words_of(change: Change) -> bytes:
    return change.kind.to_bytes(32) + keccak256(change.signer) + change.value.to_bytes(32)


def _digest(account: str, struct: bytes) -> bytes:
    named = keccak256(_DOMAIN) + keccak256(b"Holdfast VaultAccount") + keccak256(b"1")
    domain = keccak256(named + from_hex(account).rjust(32, b"\0"))
    return keccak256(b"\x19\x01" + domain + keccak256(struct))
