"""Encodes a WebAuthn assertion as a vault account's signature, and makes a placeholder assertion for gas estimation.

Source: docs/contracts.md, "Signatures"; WebAuthn section 5.8.1 (client data) and 6.1 (authenticator data).
"""

from __future__ import annotations

from holdfast.chain.abi import encode
from holdfast.chain.errors import ChainError
from holdfast.wire.p256 import ORDER, low_s

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
    places = [client_data_json.find(part) for part in (b'"challenge":"', b'"type":"')]
    if min(places) < 0:
        raise NotAnAssertion("the client data has no challenge or no type")
    return encode(_TYPES, (r, low_s(s), *places, authenticator_data, client_data_json))


def placeholder_assertion() -> bytes:
    """Return an unsigned assertion of typical length for gas estimates, to which a `bundler.Margin` must be added."""
    client_data = b'{"type":"webauthn.get","challenge":"' + b"A" * 43 + b'","origin":"https://' + b"x" * 40 + b'"}'
    return encode_assertion(ORDER // 2, ORDER // 2, b"\x00" * 32 + b"\x1d" + bytes(4), client_data)
