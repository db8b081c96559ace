"""Bearer tokens for Holdfast's service: UCAN invocations by the vault's key (decision 0621)."""

from __future__ import annotations

import time
from ipaddress import ip_address
from typing import TYPE_CHECKING

import httpx2

from holdfast.client.types import InvocationOptions
from holdfast.wire.commands import WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.client.vault.async_vault import AsyncVault

LIFETIME_S = 300
_LOOPBACK = ("127.0.0.1", "%5B%3A%3A1%5D")


def did_of_service(url: str) -> str:
    """Return the did:web of a service's address.

    As the audience of tokens, this DID prevents other services from using the tokens. Any loopback address is treated
    as localhost, because that is the default host in a service's own address. A name outside ASCII is written as
    browsers do, and the brackets and colons of an IPv6 address are percent-encoded.
    """
    address = httpx2.URL(url)
    host = address.raw_host.decode()
    if ":" in host:
        host = "%5B" + ip_address(host).compressed.replace(":", "%3A") + "%5D"
    host = "localhost" if host in _LOOPBACK else host
    return f"did:web:{host}" if address.port is None else f"did:web:{host}%3A{address.port}"


async def service_token(
    vault: AsyncVault,
    audience: str,
    command: str = WRITE,
    args: Mapping[str, object] | None = None,
    now: Callable[[], float] = time.time,
) -> str:
    """Return a token for one request; by default one upload, or making one pin and polling its status.

    It is valid for five minutes. The vault must be unlocked. It stores no row for the token: a row would be a change,
    whose upload would need another token.
    """
    options, expiration = InvocationOptions(command=command, args=dict(args or {})), int(now()) + LIFETIME_S
    return (await vault.mint_invocation(options, audience=audience, expiration=expiration, record=False)).container
