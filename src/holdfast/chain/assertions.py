"""Encodes a WebAuthn assertion as a vault account's signature, and makes a placeholder assertion for gas estimation.

Source: docs/contracts.md, "Signatures"; WebAuthn section 5.8.1 (client data) and 6.1 (authenticator data).
"""

from __future__ import annotations

from holdfast.chain.abi import encode
from holdfast.chain.errors import ChainError
from holdfast.wire.encoding import to_base64url
from holdfast.wire.p256 import ORDER, low_s

_CHALLENGE, _TYPE, _GET = b'"challenge":"', b'"type":"', b'"type":"webauthn.get"'
_LEAST_DATA, _FLAGS = 37, 32
_VERIFIED, _BACKUP, _BACKED_UP = 0x05, 0x18, 0x10
_TYPES = ("uint256", "uint256", "uint256", "uint256", "bytes", "bytes")


class NotAnAssertion(ChainError):
    """The client data has no type or challenge, or r or s is out of range."""


def encode_assertion(r: int, s: int, authenticator_data: bytes, client_data_json: bytes) -> bytes:
    """Return a user operation's signature: the ABI-encoded assertion, with the lower of the two valid values of s.

    Args:
        r: First half of the passkey's ECDSA signature.
        s: Second half, low or high.
        authenticator_data: As the authenticator signed it.
        client_data_json: UTF-8 as the browser returned it; its challenge is the operation's hash.

    Raises:
        NotAnAssertion: One of the two parts is malformed.
    """
    if not (0 < r < ORDER and 0 < s < ORDER):
        raise NotAnAssertion("r or s is out of range")
    offsets = [client_data_json.find(part) for part in (_CHALLENGE, _TYPE)]
    if min(offsets) < 0:
        raise NotAnAssertion("the client data has no challenge or no type")
    return encode(_TYPES, (r, low_s(s), *offsets, authenticator_data, client_data_json))


def is_accepted(challenge: bytes, authenticator_data: bytes, client_data_json: bytes) -> bool:
    """Return whether an account accepts an assertion of this form, if the signature is the passkey's.

    The challenge must be the digest, the user present and verified, and a passkey that is backed up one that can be.
    Source: contracts/src/account/Assertions.sol; vectors/accounts/assertions.json.
    """
    flags = authenticator_data[_FLAGS] if len(authenticator_data) >= _LEAST_DATA else 0
    digest = _CHALLENGE + to_base64url(challenge).encode() + b'"'
    parts = ((_CHALLENGE, digest), (_TYPE, _GET))
    is_for = all(client_data_json[client_data_json.find(begin) :].startswith(whole) for begin, whole in parts)
    return is_for and flags & _VERIFIED == _VERIFIED and flags & _BACKUP != _BACKED_UP


def placeholder_assertion() -> bytes:
    """Return an unsigned assertion of typical length for gas estimates, to which `gas.WEBAUTHN` must be added."""
    client_data = b'{"type":"webauthn.get","challenge":"' + b"A" * 43 + b'","origin":"https://' + b"x" * 40 + b'"}'
    return encode_assertion(ORDER // 2, ORDER // 2, b"\x00" * 32 + b"\x1d" + bytes(4), client_data)
