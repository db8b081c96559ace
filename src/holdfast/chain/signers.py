"""Signers of an account, and signatures that name them (docs/contracts.md, "Accounts").

A signer is a P-256 key (64 bytes: X ‖ Y), an address (20 bytes), or an ERC-7913 signer (the verifier's address ‖ its
key).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from collections.abc import Iterable

SignerKind = Literal["p256", "address", "verifier"]

_P256_BYTES, _ADDRESS_BYTES, _LONGEST = 64, 20, 1024
_WORD = 32
_MOST, _MOST_OF_CHANGES = 32, 2
# A COSE key of P-256 (RFC 9053, section 7.1) ends with X and Y.
_COSE = re.compile(rb"\x21\x58\x20(.{32})\x22\x58\x20(.{32})\Z", re.DOTALL)
_POINT = re.compile(rb"\x04(.{32})(.{32})", re.DOTALL)


def p256_signer(x: int, y: int) -> bytes:
    """Return the signer of a P-256 key with these coordinates."""
    return x.to_bytes(32) + y.to_bytes(32)


def passkey_signer(public_key: bytes) -> bytes | None:
    """Return the signer of a passkey's key, a COSE key or a SEC 1 point; None for a key that accounts do not verify."""
    found = _POINT.fullmatch(public_key) or _COSE.search(public_key)
    return b"".join(found.groups()) if found else None


def kind_of(signer: bytes) -> SignerKind:
    """Return what kind of signer these bytes name. Raises ValueError for bytes that name none."""
    if not _ADDRESS_BYTES <= len(signer) <= _LONGEST:
        raise ValueError("a signer has 64 bytes (a P-256 key), 20 (an address) or more (a verifier and its key)")
    if len(signer) == _P256_BYTES:
        return "p256"
    return "address" if len(signer) == _ADDRESS_BYTES else "verifier"


def key_id(signer: bytes) -> bytes:
    """Return the ID by which an account knows a signer: Keccak-256 of its bytes."""
    return keccak256(signer)


def named(signatures: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return one signature that names who signed: the number, then lengths, signer and signature of each.

    Args:
        signatures: signer and signature, in any order.

    Raises:
        ValueError: No one signed, a signer did so twice, or something is too long.
    """
    ordered = sorted(signatures, key=lambda each: key_id(each[0]))
    if not 0 < len(ordered) <= _MOST or len({signer for signer, _ in ordered}) != len(ordered):
        raise ValueError("between one and 32 different signers sign")
    return len(ordered).to_bytes(32) + b"".join(_entry(*each) for each in ordered)


def signatures_in(whole: bytes) -> list[tuple[bytes, bytes]]:
    """Return the signers and signatures in one owner's part of a signature that needs two owners.

    Raises ValueError if it was signed where one signature suffices, so that it names no signer, or if it is malformed.
    """
    count, found, at = int.from_bytes(whole[:_WORD]), list[tuple[bytes, bytes]](), _WORD
    if count > _MOST_OF_CHANGES:
        raise ValueError("the other owner signed where one signature suffices")
    while at < len(whole):
        middle = at + 4 + int.from_bytes(whole[at : at + 2])
        end = middle + int.from_bytes(whole[at + 2 : at + 4])
        found.append((whole[at + 4 : middle], whole[middle:end]))
        at = end
    if at != len(whole) or not count or len(found) != count:
        raise ValueError("the other owner's signature is malformed")
    return found


def by_name(signer: bytes, signature: bytes) -> bytes:
    """Return an owner's signature that names the owner: for a P-256 key, the shorter form X ‖ Y, then the signature.

    Raises ValueError for a signer or a signature that is too long.
    """
    return signer + signature if kind_of(signer) == "p256" else named([(signer, signature)])


def of_changes(signer: bytes, signature: bytes, *, suffices: bool, is_primary: bool) -> bytes:
    """Return an owner's signature of changes in the form that costs the least gas.

    Args:
        signer: the owner.
        signature: over the digest of the changes.
        suffices: whether one owner's signature does. If not, or if that is not known, another's may join it.
        is_primary: whether the owner is the account's primary key.

    Raises ValueError for a signer or a signature that is too long.
    """
    if not suffices:
        return named([(signer, signature)])
    return signature if is_primary else by_name(signer, signature)


def _entry(signer: bytes, signature: bytes) -> bytes:
    if max(len(signer), len(signature)) >= 1 << 16:
        raise ValueError("a signer or a signature is too long")
    return len(signer).to_bytes(2) + len(signature).to_bytes(2) + signer + signature
