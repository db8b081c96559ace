"""Bearer tokens for Holdfast's service: UCAN invocations of `/snapshots/write` by the vault's key (decision 0621)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.client.types import InvocationOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.vault.async_vault import AsyncVault

WRITE = "/snapshots/write"
LIFETIME_S = 300
_LOOPBACK = ("127.0.0.1", "::1")


def did_of_service(url: str) -> str:
    """Return the did:web for a service's address: the audience of its tokens, so that no other service can use them.

    Any loopback address is treated as localhost, which is the host in a service's own address by default.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = "localhost" if host in _LOOPBACK else host
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return f"did:web:{host}" if parts.port in {None, default} else f"did:web:{host}%3A{parts.port}"


async def bearer_token(vault: AsyncVault, audience: str, now: Callable[[], float] = time.time) -> str:
    """Return a token, valid for five minutes, for one upload or one pin and its polling. The vault must be unlocked.

    The vault stores no row for it: a row would be a change, whose upload would need another token.
    """
    asked = InvocationOptions(command=WRITE, args={})
    expiration = int(now()) + LIFETIME_S
    return (await vault.mint_invocation(asked, audience=audience, expiration=expiration, record=False)).container
