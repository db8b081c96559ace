"""Signatures of webhooks: Standard Webhooks 1.0, symmetric (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "whsec_"
MIN_SECRET_BYTES, MAX_SECRET_BYTES = 24, 64


def parse_secrets(text: str) -> tuple[bytes, ...]:
    """Return the secrets of a text such as `whsec_AAAA… whsec_BBBB…`. Raises ValueError, without the text."""
    secrets = tuple(_secret(part) for part in text.split())
    if not secrets:
        raise ValueError("at least one secret is needed (holdfast keys webhook)")
    return secrets


def signature(secrets: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature`, with a signature by each secret.

    Args:
        secrets: the keys of HMAC-SHA256.
        message_id: the header `webhook-id`.
        timestamp: the header `webhook-timestamp`, seconds since the epoch.
        body: the request's body.
    """
    signed = f"{message_id}.{timestamp}.".encode() + body
    return " ".join("v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in secrets)


def _secret(text: str) -> bytes:
    sentence = f"each secret is {PREFIX} and {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} bytes in base64"
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise ValueError(sentence) from None
    if not text.startswith(PREFIX) or not MIN_SECRET_BYTES <= len(key) <= MAX_SECRET_BYTES:
        raise ValueError(sentence)
    return key
