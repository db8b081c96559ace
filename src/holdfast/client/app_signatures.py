"""Lets an app's server verify signatures that a vault made for that app (docs/connect.md)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from holdfast.wire.keccak import did_of_key, keccak256
from holdfast.wire.p256 import ORDER

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

DOMAIN = "holdfast/app-sign/v1"
WINDOW = "window"
LONGEST_AGE = timedelta(minutes=10)
CLOCKS_DIFFER = timedelta(minutes=1)
_HEAD = re.compile(
    re.escape(DOMAIN) + r"\nOrigin: ([^\n]+)\nReturn: ([^\n]+)\nDID: (did:new:0x[0-9a-f]{64})"
    r"\nChallenge: ([A-Za-z0-9_-]{16,128})\nIssued: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\n\n(.+)",
    re.DOTALL,
)
_SIGNATURE = re.compile(r"0x([0-9a-f]{64})([0-9a-f]{64})")
_KEY = re.compile(r"04([0-9a-f]{64})([0-9a-f]{64})")


class AppSignatureRefused(ValueError):
    """The signature is not valid for this app.

    Attributes:
        code: what is wrong: `form`, `origin`, `return`, `challenge`, `text`, `time`, `key` (not the DID's) or
            `signature`.
    """

    def __init__(self, code: str) -> None:
        super().__init__(f"the app signature is refused: {code}")
        self.code = code


def verify_app_signature(
    answer: Mapping[str, object],
    *,
    origin: str,
    challenge: str,
    text: str,
    now: datetime,
    returns: Collection[str] = (),
) -> str:
    """Return the DID that signed `text` for this app.

    Args:
        answer: the `signature` member of what `connect()` returned: `message`, `signature` and `publicKey`; untrusted.
        origin: the app's own origin, such as `https://app.example`.
        challenge: what this server issued for this one attempt; the caller must not accept it a second time.
        text: what the person was asked to sign.
        now: the current time with its zone; a signature may be up to ten minutes old.
        returns: the app's addresses to which the browser may have brought the answer, exactly as in the app's
            `/.well-known/holdfast-connect`. An answer to a window needs none: only the app's own origin can read it.

    Raises:
        AppSignatureRefused: the signature is not valid for this app.
    """
    message, signature, key = (answer.get(name) for name in ("message", "signature", "publicKey"))
    if not (isinstance(message, str) and isinstance(signature, str) and isinstance(key, str)):
        raise AppSignatureRefused("form")
    head = _HEAD.fullmatch(message)
    if head is None:
        raise AppSignatureRefused("form")
    _expect("origin", head[1], origin)
    _, returned, did, challenged, issued, signed = head.groups()
    if returned not in {WINDOW, *returns}:
        raise AppSignatureRefused("return")  # it was sent to another address, whose owner may present it here
    _expect("challenge", challenged, challenge)
    _expect("text", signed, text)
    if not -CLOCKS_DIFFER <= now - _time(issued) <= LONGEST_AGE:
        raise AppSignatureRefused("time")
    _verify(message, signature, _key(key, did))
    return did


def _expect(code: str, stated: str, wanted: str) -> None:
    if stated != wanted:
        raise AppSignatureRefused(code)


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise AppSignatureRefused("form") from error


def _key(text: str, did: str) -> ec.EllipticCurvePublicKey:
    """Return the public key after checking that the DID is its hash; this check needs no registry."""
    found = _KEY.fullmatch(text)
    if found is None:
        raise AppSignatureRefused("form")
    x, y = int(found[1], 16), int(found[2], 16)
    if did_of_key(x, y) != did:
        raise AppSignatureRefused("key")
    try:
        return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    except ValueError as error:
        raise AppSignatureRefused("key") from error


def _verify(message: str, signature: str, key: ec.EllipticCurvePublicKey) -> None:
    found = _SIGNATURE.fullmatch(signature)
    if found is None:
        raise AppSignatureRefused("form")
    r, s = int(found[1], 16), int(found[2], 16)
    if s > ORDER // 2:
        raise AppSignatureRefused("signature")  # the second valid form of a signature: one is accepted
    encoded = message.encode()
    digest = keccak256(b"\x19Ethereum Signed Message:\n" + str(len(encoded)).encode() + encoded)  # ERC-191
    try:
        key.verify(encode_dss_signature(r, s), digest, ec.ECDSA(Prehashed(SHA256())))
    except (InvalidSignature, ValueError) as error:
        raise AppSignatureRefused("signature") from error
