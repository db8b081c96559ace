"""A key and a passkey for the client's tests."""

from __future__ import annotations

from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.client import types
from holdfast.client.passkeys import Authenticator, Person
from holdfast.client.vault.keys import SecretKey

SECRET = SecretKey(b"k" * 32)
AUTHENTICATOR = Authenticator("http://localhost:8787", SoftwareAuthenticator())
PASSKEY = AUTHENTICATOR.create_passkey(Person("ada"))
UNSIGNED = dict.fromkeys(
    ("nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas", "maxPriorityFeePerGas"),
    "0x0",
) | {"sender": "0x" + "11" * 20, "callData": "0x", "signature": "0x"}
GIVEN = types.GenerateInput(credential=PASSKEY.credential)
