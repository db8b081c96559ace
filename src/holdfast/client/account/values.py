"""What the client says of an account, and signed changes as files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.chain.account_calls import SignedChanges
from holdfast.chain.account_messages import Change
from holdfast.chain.account_reads import Settings
from holdfast.chain.signers import kind_of
from holdfast.client.flows.accounts import address_in
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import checksum_address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.chain.account_reads import Owner, Recovery


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountView:
    """An account's owners and guardians on one chain.

    Attributes:
        address: EIP-55.
        chain_id: the chain's ID.
        deployed: whether the account exists on the chain yet; before that, its first key is the only owner.
        owners: oldest first.
        guardians: their signers, oldest first.
        settings: what the account counts and requires.
        recovery: the one that is under way.
    """

    address: str
    chain_id: int
    deployed: bool
    owners: tuple[Owner, ...]
    guardians: tuple[bytes, ...] = ()
    settings: Settings = field(default_factory=Settings)
    recovery: Recovery | None = None

    @property
    def public_key(self) -> tuple[int, int]:
        """The key that stands for the account: its primary key, else its oldest P-256 owner, else 0, 0."""
        primary = [owner.signer for owner in self.owners if owner.is_primary]
        others = [owner.signer for owner in self.owners if kind_of(owner.signer) == "p256"]
        signer = (primary + others + [bytes(64)])[0]
        return int.from_bytes(signer[:32]), int.from_bytes(signer[32:])


@dataclass(frozen=True, slots=True)
class Brought:
    """What came of bringing signed changes to one chain. `applied`: how many were new there; 0: it had all."""

    chain_id: int
    applied: int
    user_op_hash: str | None = None


def signer_text(signer: bytes) -> str:
    """Return a signer as people write it: an address in EIP-55 form, everything else in hex."""
    return checksum_address(signer) if kind_of(signer) == "address" else to_hex(signer)


def signer_of(text: str) -> bytes:
    """Return the signer that a text names: an address, or `0x` and the hex of a P-256 key or of another signer.

    Raises ValueError.
    """
    if not text.startswith("0x"):
        raise ValueError("a signer is 0x and hex: an address, a P-256 key (X and Y), or a verifier and its key")
    signer = from_hex(text)
    if kind_of(signer) == "address":
        address_in(text, "signer")
    return signer


def signed_to_text(signed: Iterable[SignedChanges]) -> str:
    """Return signed changes as the text of a file."""
    return json.dumps({"holdfast": "account-changes", "version": 1, "changes": [_form(each) for each in signed]})


def signed_from_text(text: str) -> list[SignedChanges]:
    """Return the signed changes in a file's text. Raises ValueError for anything else."""
    try:
        form: Any = json.loads(text)
        if (form["holdfast"], form["version"]) == ("account-changes", 1):
            return [_signed(each) for each in form["changes"]]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("the file contains no changes of an account") from error
    raise ValueError("the file contains no changes of an account that this version knows")


def _form(signed: SignedChanges) -> dict[str, Any]:
    changes = [change.to_json() for change in signed.changes]
    of = {"account": signed.account, "sequence": signed.sequence}
    return {**of, "changes": changes, "signature": to_hex(signed.signature)}


def _signed(form: dict[str, Any]) -> SignedChanges:
    changes = tuple(Change.from_json(change) for change in form["changes"])
    if type(form["sequence"]) is not int or not changes:
        raise ValueError("the file contains no changes of an account")
    account = checksum_address(from_hex(form["account"]))
    return SignedChanges(account, form["sequence"], changes, from_hex(form["signature"]))
