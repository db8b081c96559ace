"""A CTAP 2.1 authenticator in software: P-256 passkeys, user verification, hmac-secret, exclusion lists."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import struct
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256, CoseKey
from fido2.ctap import CtapDevice, CtapError
from fido2.ctap2.pin import PinProtocolV2
from fido2.hid import CAPABILITY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event

AAGUID = bytes.fromhex("686f6c64666173742d746573742d6b65")
_MAKE, _ASSERT, _INFO, _PIN = 1, 2, 4, 6
_UP, _UV, _AT, _ED = 0x01, 0x04, 0x40, 0x80


class SoftwareAuthenticator(CtapDevice):
    """Stores passkeys in memory. `refuse` makes the next command fail as if the person had cancelled it."""

    def __init__(self, *, algorithms: tuple[int, ...] = (-7,), prf: bool = True) -> None:
        self.passkeys: dict[bytes, dict[str, Any]] = {}
        self.refuse: int | None = None
        self._algorithms, self._prf = algorithms, prf
        self._agreement = ec.generate_private_key(ec.SECP256R1())
        self._signatures = 0

    @property
    def capabilities(self) -> int:
        return CAPABILITY.CBOR

    @classmethod
    def list_devices(cls) -> Iterator[CtapDevice]:
        return iter(())

    def call(
        self,
        cmd: int,
        data: bytes = b"",
        event: Event | None = None,
        on_keepalive: Callable[[Any], None] | None = None,
    ) -> bytes:
        if self.refuse is not None:
            return bytes([self.refuse])
        handlers: dict[int, Callable[[Any], dict[int, Any]]] = {
            _MAKE: self._make,
            _ASSERT: self._assert,
            _INFO: self._info,
            _PIN: self._pin,
        }
        try:
            return b"\0" + cbor.encode(handlers[data[0]](cbor.decode(data[1:]) if data[1:] else {}))
        except CtapError as error:
            return bytes([error.code])

    def _info(self, _request: Any) -> dict[int, Any]:
        return {
            1: ["FIDO_2_1"],
            2: ["hmac-secret"] if self._prf else [],
            3: AAGUID,
            4: {"rk": True, "up": True, "uv": True},
            6: [2],
            9: ["usb"],
            10: [{"type": "public-key", "alg": algorithm} for algorithm in self._algorithms],
        }

    def _pin(self, request: Any) -> dict[int, Any]:
        if request[2] != 2:
            raise CtapError(CtapError.ERR.INVALID_COMMAND)
        return {1: _cose(self._agreement) | {3: -25}}

    def _make(self, request: Any) -> dict[int, Any]:
        if not any(wanted["alg"] in self._algorithms for wanted in request[4]):
            raise CtapError(CtapError.ERR.UNSUPPORTED_ALGORITHM)
        if any(item["id"] in self.passkeys for item in request.get(5, [])):
            raise CtapError(CtapError.ERR.CREDENTIAL_EXCLUDED)
        name, key = secrets.token_bytes(32), ec.generate_private_key(ec.SECP256R1())
        self.passkeys[name] = {
            "rp": request[2]["id"],
            "key": key,
            "prf": secrets.token_bytes(32),
            "user": request[3]["id"],
        }
        extensions: dict[str, Any] = {"hmac-secret": True} if request.get(6, {}).get("hmac-secret") else {}
        cose = cbor.encode(_cose(key))
        attested = AAGUID + struct.pack(">H", len(name)) + name + cose
        return {1: "none", 2: self._data(request[2]["id"], _AT, attested, extensions), 3: {}}

    def _assert(self, request: Any) -> dict[int, Any]:
        allowed = [item["id"] for item in request.get(3, [])] or list(self.passkeys)
        found = [name for name in allowed if self.passkeys.get(name, {}).get("rp") == request[1]]
        if not found:
            raise CtapError(CtapError.ERR.NO_CREDENTIALS)
        passkey = self.passkeys[found[0]]
        extensions: dict[str, Any] = {}
        if "hmac-secret" in request.get(4, {}):
            extensions["hmac-secret"] = self._hmac_secret(passkey, request[4]["hmac-secret"])
        data = self._data(request[1], 0, b"", extensions)
        signature = passkey["key"].sign(data + request[2], ec.ECDSA(hashes.SHA256()))
        credential = {"type": "public-key", "id": found[0]}
        return {1: credential, 2: data, 3: signature, 4: {"id": passkey["user"]}}

    def _hmac_secret(self, passkey: dict[str, Any], given: Any) -> bytes:
        protocol: Any = PinProtocolV2()  # its methods have no type annotations
        peer = CoseKey.parse(given[1])
        numbers = ec.EllipticCurvePublicNumbers(
            int.from_bytes(peer[-2], "big"), int.from_bytes(peer[-3], "big"), ec.SECP256R1()
        )
        shared = protocol.kdf(self._agreement.exchange(ec.ECDH(), numbers.public_key()))
        assert hmac.compare_digest(protocol.authenticate(shared, given[2]), given[3])
        salts = protocol.decrypt(shared, given[2])
        output = b"".join(
            hmac.digest(passkey["prf"], salts[start : start + 32], "sha256") for start in range(0, len(salts), 32)
        )
        encrypted: bytes = protocol.encrypt(shared, output)
        return encrypted

    def _data(self, rp_id: str, flags: int, attested: bytes, extensions: dict[str, Any]) -> bytes:
        self._signatures += 1
        flags |= _UP | _UV | (_ED if extensions else 0)
        head = hashlib.sha256(rp_id.encode()).digest() + struct.pack(">BI", flags, self._signatures)
        return head + attested + (cbor.encode(extensions) if extensions else b"")


def _cose(key: ec.EllipticCurvePrivateKey) -> dict[int, Any]:
    typed: Any = ES256  # its methods have no type annotations
    return dict(typed.from_cryptography_key(key.public_key()))
