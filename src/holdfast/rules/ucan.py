"""Strictly parses UCAN 1.0 tokens signed by P-256 keys, with size limits.

Everything before a token's claims is fixed: it is compared, then the text up to `iss` is read and the signature
verified, and only then is the rest decoded, because anyone may send 8 KiB that are costly to decode. The module does
not check time, revocation or policy. Sources: UCAN Delegation 1.0 and Invocation 1.0, varsig 1, the container format
`ctn-v1`, the did:key method.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from holdfast.content.bases import from_multibase
from holdfast.content.cids import cid_of
from holdfast.content.dag_cbor import Link, Reader, decode
from holdfast.content.errors import ContentError
from holdfast.wire.keccak import did_of_key
from holdfast.wire.p256 import ORDER

MAX_TOKEN_CHARACTERS = 8 * 1024  # the usual limit of a header line
_CONTAINER = re.compile(r"C[A-Za-z0-9_-]{8,}")
# What precedes the parts that differ is compared as bytes, so that nothing is decoded before the signature is verified.
_CONTAINER_HEAD = b"\xa1\x66ctn-v1\x81"  # a map of one name, whose value is a list of one
_VARSIG = bytes.fromhex("3401ec0180241271")  # varsig 1: ECDSA, P-256, SHA-256, DAG-CBOR
_ENVELOPE_HEAD = bytes.fromhex("825840")  # a list of two, the first of them 64 bytes
_SIGNATURE_BYTES = 64
_DID_KEY = re.compile(r"did:key:(z[1-9A-HJ-NP-Za-km-z]{40,60})")
_P256_CODE = bytes.fromhex("8024")  # multicodec p256-pub as a varint
_ED25519_CODE = bytes.fromhex("ed01")
_COMPRESSED_BYTES = 33
_ED25519_BYTES = 32
_MAX_TIME = 2**53 - 1
_ITEMS_UP_TO_ISSUER = 12  # canonical order puts at most four claims before `iss`, none of them a list or map
_NEEDED = {
    "inv": frozenset({"iss", "sub", "cmd", "args", "prf", "exp", "nonce"}),
    "dlg": frozenset({"iss", "aud", "sub", "cmd", "pol", "exp", "nonce"}),
}
_ALLOWED = {"inv": _NEEDED["inv"] | {"aud", "iat", "nbf", "meta", "cause"}, "dlg": _NEEDED["dlg"] | {"nbf", "meta"}}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "iss": str, "aud": str, "sub": str, "cmd": str, "args": dict, "pol": list, "prf": list, "nonce": bytes,
    "exp": (int, type(None)), "nbf": int, "iat": int, "meta": dict, "cause": Link,
}  # fmt: skip
_TAGS = {f"ucan/{kind}@{version}": kind for kind in _NEEDED for version in ("1.0.0", "1.0.0-rc.1")}
# The bytes of a payload before its claims: a map of `h`, the varsig header, and the tag.
_PAYLOAD_HEADS = {
    b"\xa2\x61h\x48" + _VARSIG + bytes([0x60 | len(tag)]) + tag.encode(): kind for tag, kind in _TAGS.items()
}


class TokenMalformed(ValueError):
    """The bytes are not a token of the supported forms, or the signature is invalid."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token whose signature is valid.

    Attributes:
        kind: `inv` or `dlg`.
        claims: the payload by its short names.
        did: the did:new that the issuer's key is the hash of.
        digest: SHA-256 of what was signed, which is the same for both forms of the signature.
        cids: text of the token's CID with either form of the signature.
    """

    kind: str
    claims: dict[str, Any]
    did: str
    digest: bytes
    cids: tuple[str, str]


def read_container(text: str) -> bytes:
    """Return the only token in a container, which must be uncompressed and in base64url. Raises TokenMalformed."""
    if len(text) > MAX_TOKEN_CHARACTERS or not _CONTAINER.fullmatch(text):
        raise TokenMalformed("no container in base64url")
    data = _base64url(text[1:])
    if not data.startswith(_CONTAINER_HEAD):
        raise TokenMalformed("no container of exactly one token")
    reader = Reader(data[len(_CONTAINER_HEAD) :])
    try:
        token = reader.octets()
        reader.finish()
    except ContentError as error:
        raise TokenMalformed("no container of exactly one token") from error
    return token


def read_token(data: bytes) -> Token:
    """Verify a token's P-256 signature, and parse the token. Raises TokenMalformed."""
    if len(data) > MAX_TOKEN_CHARACTERS or not data.startswith(_ENVELOPE_HEAD):
        raise TokenMalformed("no envelope")
    head = len(_ENVELOPE_HEAD) + _SIGNATURE_BYTES
    signature, signed = data[len(_ENVELOPE_HEAD) : head], data[head:]
    kind, payload = _payload(signed)
    key = p256_key(_issuer(payload))
    _verify(key, signature, signed)
    claims = _claims(kind, payload)
    point = key.public_numbers()
    return Token(kind, claims, did_of_key(point.x, point.y), hashlib.sha256(signed).digest(), _cids(signature, signed))


def p256_key(did: str) -> ec.EllipticCurvePublicKey:
    """Return the P-256 public key in a did:key. Raises TokenMalformed for another key or form."""
    code, key = _key_bytes(did)
    if code != _P256_CODE or len(key) != _COMPRESSED_BYTES:
        raise TokenMalformed("no P-256 key")
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key)
    except ValueError as error:
        raise TokenMalformed("no point of P-256") from error


def ed25519_key(did: str) -> bytes:
    """Return the 32-byte Ed25519 public key in a did:key. Raises TokenMalformed for another key or form."""
    code, key = _key_bytes(did)
    if code != _ED25519_CODE or len(key) != _ED25519_BYTES:
        raise TokenMalformed("no Ed25519 key")
    return key


def covers(command: str, requested: str) -> bool:
    """Return whether a delegation of `command` allows `requested`: the same or one below it (UCAN Delegation)."""
    return command in {"/", requested} or (command != "" and requested.startswith(command + "/"))


def _base64url(text: str) -> bytes:
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError as error:
        raise TokenMalformed("no base64url") from error
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != text:
        raise TokenMalformed("no canonical base64url")
    return data


def _key_bytes(did: str) -> tuple[bytes, bytes]:
    found = _DID_KEY.fullmatch(did)
    if not found:
        raise TokenMalformed("no did:key")
    try:
        data = from_multibase(found[1])
    except ValueError as error:
        raise TokenMalformed("no did:key") from error
    return data[:2], data[2:]


def _payload(signed: bytes) -> tuple[str, bytes]:
    """Return the kind of a signature payload, and the bytes of its claims."""
    for head, kind in _PAYLOAD_HEADS.items():
        if signed.startswith(head):
            return kind, signed[len(head) :]
    raise TokenMalformed("no UCAN 1.0 signed by a P-256 key")


def _issuer(payload: bytes) -> str:
    """Return the claim `iss`, without reading what follows it."""
    reader = Reader(payload, _ITEMS_UP_TO_ISSUER)
    try:
        for _ in range(reader.map_size()):
            name, value = reader.value(), reader.value()
            if name == "iss" and isinstance(value, str):
                return value
    except ContentError:
        pass
    raise TokenMalformed("no issuer")


def _claims(kind: str, payload: bytes) -> dict[str, Any]:
    try:
        claims = decode(payload)
    except ContentError as error:
        raise TokenMalformed("no DAG-CBOR") from error
    if not isinstance(claims, dict) or not _NEEDED[kind] <= claims.keys() <= _ALLOWED[kind]:
        raise TokenMalformed("claims are missing or unknown")
    for name, value in claims.items():
        if not isinstance(value, _TYPES[name]) or isinstance(value, bool):
            raise TokenMalformed("a claim has another type")
        if isinstance(value, int) and not 0 <= value <= _MAX_TIME:
            raise TokenMalformed("a time is out of range")
    return claims


def _verify(key: ec.EllipticCurvePublicKey, signature: bytes, signed: bytes) -> None:
    r, s = _numbers(signature)
    try:
        key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))
    except InvalidSignature as error:
        raise TokenMalformed("the signature does not hold") from error


def _numbers(signature: bytes) -> tuple[int, int]:
    half = _SIGNATURE_BYTES // 2
    return int.from_bytes(signature[:half]), int.from_bytes(signature[half:])


def _cids(signature: bytes, signed: bytes) -> tuple[str, str]:
    """Return the token's CID, and the CID of the same token with the other valid form of its signature."""
    r, s = _numbers(signature)
    half = _SIGNATURE_BYTES // 2
    other = r.to_bytes(half) + ((ORDER - s) % ORDER).to_bytes(half)
    forms = (_ENVELOPE_HEAD + signature + signed, _ENVELOPE_HEAD + other + signed)
    return cid_of("dag-cbor", forms[0]), cid_of("dag-cbor", forms[1])
