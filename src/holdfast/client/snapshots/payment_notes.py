"""What a vault's devices note about its payments, and how they seal these notes for each other (docs/formats.md).

Pure functions. Notes are a set: the union of two sets needs no decision, unlike two versions of a vault.
"""

from __future__ import annotations

import hmac
import re
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from holdfast.client.types import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

# What the vault's key signs, as 32 bytes of text: no hash of a message, so nothing else ever signs it, and under a
# token nothing bare is signed (decision 0321).
DIGEST = b"holdfast/payment-notes/the-key/1"
MAX_NOTES = 1000
_PURPOSE = b"holdfast/payment-notes/v1"
_VERSION, _NONCE_BYTES, _KEY_BYTES, _BLOCK = b"\x01", 12, 32, 4096
_HASH = re.compile(r"0x[0-9a-f]{64}")
_ORDER = {"sent": 0, "failed": 1, "confirmed": 2}


class PaymentNote(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A payment that a device of the vault made.

    Attributes:
        hash: of the user operation, 0x-hex.
        to: the payee as the person knows it: a name, a DID or an address.
        address: the payee's address.
        amount: a decimal number of `symbol`.
        time: when it was signed, as `time_text` writes it.
        state: "sent" while the outcome is unknown.
        shop: the host that asked for it.
        label: what it was for.
    """

    hash: str
    to: str
    amount: str
    symbol: str
    time: str
    state: Literal["sent", "failed", "confirmed"]
    address: str | None = None
    shop: str | None = None
    label: str | None = None


class NotesKey(NamedTuple):
    """The keys of one vault's notes, both derived from its signature of `DIGEST`: `seal` seals, `nonce` draws."""

    seal: bytes
    nonce: bytes


def notes_key(signature: bytes) -> NotesKey:
    """Return the keys. `signature`: of `DIGEST` by the DID's key, r ‖ s, deterministic (RFC 6979)."""
    derived = HKDF(SHA256(), 2 * _KEY_BYTES, b"", _PURPOSE).derive(signature)
    return NotesKey(derived[:_KEY_BYTES], derived[_KEY_BYTES:])


def merged(ours: Iterable[PaymentNote], theirs: Iterable[PaymentNote]) -> list[PaymentNote]:
    """Return the union, oldest first, at most `MAX_NOTES`. An outcome counts more than "sent"; else ours counts."""
    union: dict[str, PaymentNote] = {}
    for note in (*ours, *theirs):
        known = union.get(note.hash)
        if known is None or _ORDER[note.state] > _ORDER[known.state]:
            union[note.hash] = note
    return sorted(union.values(), key=lambda note: (note.time, note.hash))[-MAX_NOTES:]


def settled_note(note: PaymentNote, *, succeeded: bool) -> PaymentNote:
    """Return the note with the payment's outcome."""
    return msgspec.structs.replace(note, state="confirmed" if succeeded else "failed")


def sealed(key: NotesKey, did: str, notes: Iterable[PaymentNote]) -> bytes:
    """Return the notes, sealed for the devices of the vault with this DID.

    The nonce is derived from the text, so the same notes have the same bytes, and a repeated upload adds nothing.
    Spaces fill the text, so that its length says little.
    """
    text = msgspec.json.encode({"payments": list(notes)})
    text += b" " * (-len(text) % _BLOCK)
    nonce = hmac.digest(key.nonce, text, sha256)[:_NONCE_BYTES]
    return _VERSION + nonce + AESGCM(key.seal).encrypt(nonce, text, _bound_to(did))


def unsealed(key: NotesKey, did: str, data: bytes) -> list[PaymentNote] | None:
    """Return the notes; None for bytes that no device of this vault has sealed, or in a form that is not known."""
    nonce, rest = data[1 : 1 + _NONCE_BYTES], data[1 + _NONCE_BYTES :]
    if data[:1] != _VERSION or len(nonce) != _NONCE_BYTES:
        return None
    try:
        rows = msgspec.json.decode(AESGCM(key.seal).decrypt(nonce, rest, _bound_to(did)))["payments"]
    except (InvalidTag, ValueError, LookupError, TypeError, RecursionError):
        return None
    return read_notes(rows) if isinstance(rows, list) else None


def read_notes(rows: Iterable[object]) -> list[PaymentNote]:
    """Return the rows of JSON that are notes; others, perhaps of a later release, are left out."""
    return [note for row in rows if (note := _note(row)) is not None]


def _note(row: Any) -> PaymentNote | None:
    try:
        note = msgspec.convert(row, PaymentNote)
    except msgspec.ValidationError:
        return None
    return note if _HASH.fullmatch(note.hash) and _is_time(note.time) else None


def time_text(moment: datetime) -> str:
    """Return a time in UTC as RFC 3339, with milliseconds."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_time(text: str) -> bool:
    try:
        return time_text(datetime.fromisoformat(text)) == text
    except ValueError:
        return False


def _bound_to(did: str) -> bytes:
    return _PURPOSE + b"\n" + did.encode()
