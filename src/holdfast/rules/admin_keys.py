"""Keys with which operators use the admin port: `holdfast.NAME.SECRET`, of which the service stores a hash."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import TYPE_CHECKING

from holdfast.rules.limits import ADMIN_KEY_TRIES_PER_ADDRESS_HOUR, HOUR_S
from holdfast.rules.quotas import Counted, of_address
from holdfast.wire.admin_endpoints import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.rules.quotas import Quota

BY_KEY = "key:"  # in the audit, begins the name of an operator who acts with a key; the rest is the key's name
_SECRET_BYTES = 32
_PREFIX = "holdfast"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_NOTHING = bytes(_SECRET_BYTES)


def scopes_of(words: Iterable[str]) -> str:
    """Return scopes as they are stored, without repetition. Raises ValueError for an unknown one, or none."""
    found = {Scope(word) for word in words}
    if not found:
        raise ValueError("a key needs a scope")
    return " ".join(scope for scope in Scope if scope in found)


def is_key_name(name: str) -> bool:
    """Return whether a key may have this name."""
    return _NAME.fullmatch(name) is not None


def new_key(name: str, entropy: Callable[[int], bytes]) -> tuple[str, bytes]:
    """Return a new key and its secret's hash."""
    secret = base64.urlsafe_b64encode(entropy(_SECRET_BYTES)).decode().rstrip("=")
    return f"{_PREFIX}.{name}.{secret}", _digest(secret)


def bearer_key(authorization: str | None) -> tuple[str, bytes] | None:
    """Return name and hash of the key in an Authorization header; None if it has no key's form."""
    kind, _, key = (authorization or "").partition(" ")
    prefix, _, rest = key.strip().partition(".")
    name, _, secret = rest.partition(".")
    if kind.lower() != "bearer" or prefix != _PREFIX or not is_key_name(name) or not secret.isascii():
        return None
    return name, _digest(secret)


def is_same(given: bytes, stored: bytes | None) -> bool:
    """Compare two hashes in constant time; without a stored one, in the same time."""
    return hmac.compare_digest(given, stored or _NOTHING) and stored is not None


def of_admin_key(address: str) -> tuple[Quota, ...]:
    """Return the windows in which the wrong keys of an address count."""
    return of_address(Counted.ADMIN_KEYS, address, ADMIN_KEY_TRIES_PER_ADDRESS_HOUR, HOUR_S)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
