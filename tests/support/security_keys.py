"""A security key that is plugged in while commands run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.chain.signers import p256_signer
from holdfast.cli import client_vault
from holdfast.client.passkeys import Authenticator, Person
from holdfast.wire.encoding import from_base64url


def plugged_in(monkeypatch: pytest.MonkeyPatch, service: str, file: Path | None = None) -> bytes:
    """Plug in a security key with two passkeys of the service's site; return the second as a signer of accounts.

    Vaults whose passkeys are in a file go on using those. With `file`, the two passkeys are there, and nothing is
    plugged in.
    """
    device, usual = SoftwareAuthenticator(file), client_vault.security_key
    key = Authenticator(service, device)
    key.create_passkey(Person("bob"))
    made = key.create_passkey(Person("ada")).credential_id
    if file is None:
        monkeypatch.setattr(client_vault, "security_key", lambda url, own=None: usual(url, own) if own else key)
    point = device.public_key(from_base64url(made)).public_numbers()
    return p256_signer(point.x, point.y)
