"""Syntax of DIDs (W3C DID Core 1.0, section 3.1) and of the data registered with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.rules.limits import MAX_CREDENTIAL_ID_CHARACTERS, MAX_DID_CHARACTERS, MAX_TX_HASH_CHARACTERS
from holdfast.wire.errors import INVALID_CREDENTIAL_ID, INVALID_DID, INVALID_TX_HASH, Refused

if TYPE_CHECKING:
    from holdfast.wire.requests import RegisterDid

_DID = re.compile(r"did:[a-z0-9]+:(?:(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})*:)*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})+")
# Nearly all DIDs have this form, which can be matched ten times as fast as the whole syntax.
_PLAIN_DID = re.compile(r"did:[a-z0-9]+:[A-Za-z0-9._-]+")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_MAX_BLOCK_NUMBER = 2**63 - 1


def parse_did(text: str) -> str:
    """Return the DID. Raises Refused(INVALID_DID) unless it has the W3C syntax and at most 512 characters."""
    if len(text) > MAX_DID_CHARACTERS or not (_PLAIN_DID.fullmatch(text) or _DID.fullmatch(text)):
        raise Refused(INVALID_DID)
    return text


def parse_credential_id(text: str) -> str:
    """Return the credential ID as unpadded base64url, so that each credential has only one row in the database.

    Raises Refused(INVALID_CREDENTIAL_ID) for over 1,366 characters (1,023 bytes), for invisible characters, or for
    nothing but padding.
    """
    folded = text.replace("+", "-").replace("/", "_").rstrip("=")
    if len(text) > MAX_CREDENTIAL_ID_CHARACTERS or not _VISIBLE.fullmatch(folded):
        raise Refused(INVALID_CREDENTIAL_ID)
    return folded


def parse_tx_hash(text: str) -> str:
    """Return the transaction hash unchanged.

    Raises Refused(INVALID_TX_HASH) for over 128 or for invisible characters.
    """
    if len(text) > MAX_TX_HASH_CHARACTERS or not _VISIBLE.fullmatch(text):
        raise Refused(INVALID_TX_HASH)
    return text


def parse_smart_account(value: object) -> str | None:
    """Return the smart account unchanged, or None if it is not `0x` and 40 hex digits (the field is optional)."""
    if type(value) is str and _ADDRESS.fullmatch(value):
        return value
    return None


def parse_block_number(value: object) -> int | None:
    """Return the block number, or None for a value that cannot be one (the field is optional)."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is int and 0 <= value <= _MAX_BLOCK_NUMBER:
        return value
    return None


def canonical(request: RegisterDid) -> RegisterDid:
    """Return the request with each field in the form in which it is stored.

    Raises Refused for the first invalid field.
    """
    return replace(
        request,
        did=parse_did(request.did),
        credential_id=parse_credential_id(request.credential_id),
        tx_hash=parse_tx_hash(request.tx_hash),
        block_number=parse_block_number(request.block_number),
        smart_account=parse_smart_account(request.smart_account),
    )
