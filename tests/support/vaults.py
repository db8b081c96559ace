"""A key, a passkey and vaults of both kinds, for the client's tests."""

from __future__ import annotations

from typing import Any

from tests.support.running_service import Awaited
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.client import types
from holdfast.client.blocking.vault import Vault
from holdfast.client.passkeys import Authenticator, Person
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.client.vault.keys import SecretKey

SECRET = SecretKey(b"k" * 32)
AUTHENTICATOR = Authenticator("http://localhost:8787", SoftwareAuthenticator())
PASSKEY = AUTHENTICATOR.create_passkey(Person("ada"))
UNSIGNED = dict.fromkeys(
    ("nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas", "maxPriorityFeePerGas"),
    "0x0",
) | {"sender": "0x" + "11" * 20, "callData": "0x", "signature": "0x"}
GIVEN = types.GenerateInput(credential=PASSKEY.credential)


def made(kind: str, *args: Any, **kwargs: Any) -> Any:
    """Return a vault of the given kind, "blocking" or "asyncio"; the calls of both block."""
    return Awaited(lambda: AsyncVault(*args, **kwargs)) if kind == "asyncio" else Vault(*args, **kwargs)


def end(vault: Any) -> None:
    vault.finish() if isinstance(vault, Awaited) else vault.close()
