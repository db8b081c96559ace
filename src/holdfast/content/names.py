"""Converts between Ed25519 keys and their IPNS names, `k51…` (IPNS specification, "IPNS Name")."""

from __future__ import annotations

from holdfast.content.bases import from_multibase, to_multibase
from holdfast.content.errors import ContentError

PUBLIC_KEY_BYTES = 32
_MAX_CHARACTERS = 80  # the longest text of such a name, in base32, has 65
# A CIDv1 with codec libp2p-key, whose identity multihash contains the key's protobuf: type Ed25519, then 32 bytes.
_KEY = bytes([0x08, 1, 0x12, PUBLIC_KEY_BYTES])
_MULTIHASH = bytes([0x00, len(_KEY) + PUBLIC_KEY_BYTES]) + _KEY
_CID = bytes([1, 0x72]) + _MULTIHASH
_MULTICODEC = bytes([0xED, 0x01])  # ed25519-pub (did:key method)


def name_of(public_key: bytes) -> str:
    """Return the canonical IPNS name of an Ed25519 public key of 32 bytes: base36, `k51…`. Raises ContentError."""
    if len(public_key) != PUBLIC_KEY_BYTES:
        raise ContentError("invalid_name", "an Ed25519 public key has 32 bytes")
    return to_multibase("k", _CID + public_key)


def peer_id_of(public_key: bytes) -> str:
    """Return the key as a libp2p peer ID, `12D3Koo…` (base58 of the multihash without its prefix letter)."""
    return to_multibase("z", _MULTIHASH + public_key)[1:]


def key_bytes(public_key: bytes) -> bytes:
    """Return the key in its protobuf form, as in field 7 of an IPNS record."""
    return _KEY + public_key


def public_key_of(name: str) -> bytes:
    """Return the Ed25519 public key in an IPNS name, which is in base36, base32 or base58btc, or is a peer ID.

    Raises ContentError for any other text, and for the name of another kind of key.
    """
    known = _MULTIHASH if name.startswith("12D3Koo") else _CID
    text = "z" + name if known is _MULTIHASH else name
    if len(text) > _MAX_CHARACTERS:
        raise ContentError("invalid_name", "the text is not an IPNS name")
    try:
        found = from_multibase(text)
    except ValueError as error:
        raise ContentError("invalid_name", "the text is not an IPNS name") from error
    if len(found) != len(known) + PUBLIC_KEY_BYTES or not found.startswith(known):
        raise ContentError("invalid_name", "the text is not an IPNS name of an Ed25519 key")
    return found[len(known) :]


def did_key_of(public_key: bytes) -> str:
    """Return the publishing key as `did:key`, the audience of the delegation that binds it to a vault's DID."""
    return "did:key:" + to_multibase("z", _MULTICODEC + public_key)
