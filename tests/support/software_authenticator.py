"""The client's software authenticator, with what tests change: algorithms, PRF, a counter, a command that fails."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec

from holdfast.client import software_authenticator
from holdfast.wire.encoding import from_base64url


class SoftwareAuthenticator(software_authenticator.SoftwareAuthenticator):
    """Stores passkeys in memory, or in a file. `refuse` makes the next commands fail as if the person had cancelled them.

    Without `verifies`, it is like a security key without a PIN.
    """

    def __init__(self, file: Path | None = None, *, algorithms: tuple[int, ...] = (-7,), prf: bool = True) -> None:
        super().__init__(file)
        self.verifies = True
        self.refuse: int | None = None
        self.algorithms, self.has_prf = algorithms, prf
        self._signatures = 0

    def public_key(self, credential_id: bytes) -> ec.EllipticCurvePublicKey:
        return self._known()[credential_id].key.public_key()

    def exported(self, credential_id: str) -> dict[str, Any]:
        """Return a passkey as a browser's virtual authenticator takes it (CDP's WebAuthn domain)."""
        stored = self._known()[from_base64url(credential_id)].to_json()
        names = {"credentialId": credential_id, "userHandle": stored["user"], "privateKey": stored["key"]}
        fields = {name: base64.b64encode(from_base64url(text)).decode() for name, text in names.items()}
        return {"rpId": stored["rp_id"], "isResidentCredential": True, "signCount": 0, **fields}

    def call(
        self, cmd: int, data: bytes = b"", event: Event | None = None, on_keepalive: Callable[[Any], None] | None = None
    ) -> bytes:
        if self.refuse is not None:
            return bytes([self.refuse])
        return super().call(cmd, data, event, on_keepalive)

    def _info(self, request: Any) -> dict[int, Any]:
        told = super()._info(request)
        return told if self.verifies else {**told, 4: {name: True for name in told[4] if name != "uv"}}

    def _signature_count(self) -> int:
        self._signatures += 1
        return self._signatures
