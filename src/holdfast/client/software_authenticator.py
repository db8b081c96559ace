"""A CTAP 2.1 authenticator in software, for servers, agents and tests: machines without a security key.

It protects its passkeys only by the file's mode: a program that can read the file can use them. Its AAGUID says that it
is software, so a relying party may refuse it for people.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256, CoseKey
from fido2.ctap import STATUS, CtapDevice, CtapError
from fido2.ctap2.pin import PinProtocolV2
from fido2.hid import CAPABILITY

from holdfast.client.storage.file_lock import FileLock
from holdfast.client.storage.private_files import read_private, write_private
from holdfast.wire.client_errors import WebAuthnError
from holdfast.wire.encoding import from_base64url
from holdfast.wire.file_errors import file_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event

AAGUID = b"holdfast-softkey"
_MAKE, _ASSERT, _INFO, _PIN, _NEXT = 1, 2, 4, 6, 8
_UP, _UV, _AT, _ED = 0x01, 0x04, 0x40, 0x80


@dataclass(frozen=True, slots=True)
class _Passkey:
    """A discoverable credential: relying party ID, user handle, P-256 key, and the secret of its PRF."""

    rp_id: str
    user: bytes
    key: ec.EllipticCurvePrivateKey = field(repr=False)
    secret: bytes = field(repr=False)

    @classmethod
    def new(cls, rp_id: str, user: bytes) -> Self:
        return cls(rp_id, user, ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(32))

    @classmethod
    def from_json(cls, stored: dict[str, str]) -> Self:
        key = serialization.load_der_private_key(_bytes(stored["key"]), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError("not a P-256 key")
        return cls(stored["rp_id"], _bytes(stored["user"]), key, _bytes(stored["secret"]))

    def to_json(self) -> dict[str, str]:
        form, encoding = serialization.PrivateFormat.PKCS8, serialization.Encoding.DER
        key = self.key.private_bytes(encoding, form, serialization.NoEncryption())
        return {"rp_id": self.rp_id, "user": _text(self.user), "key": _text(key), "secret": _text(self.secret)}


class SoftwareAuthenticator(CtapDevice):
    """A device for `Authenticator` that creates passkeys in this process, without hardware and without asking anyone.

    Args:
        file: where the passkeys are stored, with mode 0600; without it they last as long as this object. Several
            objects and processes may use the same file.

    Raises WebAuthnError if the file cannot be read, belongs to another user, or is not such a file.
    """

    algorithms: tuple[int, ...] = (-7,)  # P-256 (IANA COSE algorithms)
    has_prf = True

    def __init__(self, file: str | Path | None = None) -> None:
        self._file = Path(file) if file else None
        self._passkeys: dict[bytes, _Passkey] = {}
        self._known()
        self._agreement = ec.generate_private_key(ec.SECP256R1())
        self._others: list[dict[int, Any]] = []

    @property
    def capabilities(self) -> int:
        """See CtapDevice."""
        return CAPABILITY.CBOR

    @classmethod
    def list_devices(cls) -> Iterator[CtapDevice]:
        """Return nothing: a software authenticator is made, not found."""
        return iter(())

    def call(
        self,
        cmd: int,  # noqa: ARG002 - CtapDevice's signature; CTAPHID_CBOR is the only command sent
        data: bytes = b"",
        event: Event | None = None,  # noqa: ARG002 - CtapDevice's signature; no call waits
        on_keepalive: Callable[[STATUS], None] | None = None,  # noqa: ARG002 - CtapDevice's signature; no call waits
    ) -> bytes:
        """Answer one CTAP 2 request (section 6 of CTAP 2.1)."""
        handlers: dict[int, Callable[[Any], dict[int, Any]]] = {
            _MAKE: self._make,
            _ASSERT: self._assert,
            _INFO: self._info,
            _PIN: self._pin,
            _NEXT: self._next,
        }
        try:
            return b"\0" + cbor.encode(handlers[data[0]](cbor.decode(data[1:]) if data[1:] else {}))
        except CtapError as error:
            return bytes([error.code])

    def _info(self, _request: Any) -> dict[int, Any]:
        return {
            1: ["FIDO_2_1"],
            2: ["hmac-secret"] if self.has_prf else [],
            3: AAGUID,
            4: {"rk": True, "up": True, "uv": True},
            6: [2],
            9: ["internal"],
            10: [{"type": "public-key", "alg": algorithm} for algorithm in self.algorithms],
        }

    def _pin(self, request: Any) -> dict[int, Any]:
        if request[2] != 2:  # noqa: PLR2004 - getKeyAgreement, the one subcommand that hmac-secret needs
            raise CtapError(CtapError.ERR.INVALID_COMMAND)
        return {1: _cose(self._agreement) | {3: -25}}

    def _make(self, request: Any) -> dict[int, Any]:
        if not any(wanted["alg"] in self.algorithms for wanted in request[4]):
            raise CtapError(CtapError.ERR.UNSUPPORTED_ALGORITHM)
        known = self._known()
        if any(item["id"] in known for item in request.get(5, [])):
            raise CtapError(CtapError.ERR.CREDENTIAL_EXCLUDED)
        name, passkey = secrets.token_bytes(32), _Passkey.new(request[2]["id"], request[3]["id"])
        self._keep(name, passkey)
        extensions: dict[str, Any] = {"hmac-secret": True} if request.get(6, {}).get("hmac-secret") else {}
        attested = AAGUID + struct.pack(">H", len(name)) + name + cbor.encode(_cose(passkey.key))
        return {1: "none", 2: self._data(passkey.rp_id, _AT, attested, extensions), 3: {}}

    def holds(self, credential_id: str) -> bool:
        """Return whether it has this passkey."""
        return from_base64url(credential_id) in self._known()

    def _known(self) -> dict[bytes, _Passkey]:
        """Return all passkeys; those of the file, to which others may have added, as they are now."""
        return _read(self._file) if self._file else self._passkeys

    def _keep(self, name: bytes, passkey: _Passkey) -> None:
        if self._file is None:
            self._passkeys[name] = passkey
            return
        lock = FileLock(self._file.with_name(f"{self._file.name}.lock"), wait=True)
        try:
            _write(self._file, {**_read(self._file), name: passkey})
        finally:
            lock.release()

    def _assert(self, request: Any) -> dict[int, Any]:
        known = self._known()
        allowed = [item["id"] for item in request.get(3, [])]
        mine = [name for name in allowed or known if name in known and known[name].rp_id == request[1]]
        if not mine:
            raise CtapError(CtapError.ERR.NO_CREDENTIALS)
        first, *self._others = [self._assertion(request, name, known[name]) for name in mine[: 1 if allowed else None]]
        return {**first, 5: len(mine)} if self._others else first

    def _next(self, _request: Any) -> dict[int, Any]:
        if not self._others:
            raise CtapError(CtapError.ERR.NOT_ALLOWED)
        return self._others.pop(0)

    def _assertion(self, request: Any, name: bytes, passkey: _Passkey) -> dict[int, Any]:
        extensions: dict[str, Any] = {}
        if "hmac-secret" in request.get(4, {}):
            extensions["hmac-secret"] = self._hmac_secret(passkey, request[4]["hmac-secret"])
        data = self._data(passkey.rp_id, 0, b"", extensions)
        signature = passkey.key.sign(data + request[2], ec.ECDSA(hashes.SHA256()))
        return {1: {"type": "public-key", "id": name}, 2: data, 3: signature, 4: {"id": passkey.user}}

    def _hmac_secret(self, passkey: _Passkey, given: Any) -> bytes:
        protocol: Any = PinProtocolV2()  # its methods have no type annotations
        peer = CoseKey.parse(given[1])
        x, y = int.from_bytes(peer[-2], "big"), int.from_bytes(peer[-3], "big")
        point = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        shared = protocol.kdf(self._agreement.exchange(ec.ECDH(), point))
        if not hmac.compare_digest(protocol.authenticate(shared, given[2]), given[3]):
            raise CtapError(CtapError.ERR.PIN_AUTH_INVALID)
        salts = protocol.decrypt(shared, given[2])
        parts = [salts[start : start + 32] for start in range(0, len(salts), 32)]
        return bytes(protocol.encrypt(shared, b"".join(hmac.digest(passkey.secret, part, "sha256") for part in parts)))

    def _data(self, rp_id: str, flags: int, attested: bytes, extensions: dict[str, Any]) -> bytes:
        """Return authenticator data (WebAuthn Level 3, section 6.1)."""
        flags |= _UP | _UV | (_ED if extensions else 0)
        head = hashlib.sha256(rp_id.encode()).digest() + struct.pack(">BI", flags, self._signature_count())
        return head + attested + (cbor.encode(extensions) if extensions else b"")

    def _signature_count(self) -> int:
        return 0  # an authenticator without a counter (section 6.1.1), so that an assertion writes no file


def _read(file: Path) -> dict[bytes, _Passkey]:
    try:
        rows = json.loads(read_private(file))["passkeys"]
        return {_bytes(name): _Passkey.from_json(row) for name, row in rows.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise WebAuthnError(f"the passkeys in {file} cannot be read: {file_words(error)}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WebAuthnError(f"{file} is not a file of passkeys") from error


def _write(file: Path, passkeys: dict[bytes, _Passkey]) -> None:
    rows = {_text(name): passkey.to_json() for name, passkey in passkeys.items()}
    write_private(file, json.dumps({"passkeys": rows}).encode())


def _cose(key: ec.EllipticCurvePrivateKey) -> dict[int, Any]:
    typed: Any = ES256  # its methods have no type annotations
    return dict(typed.from_cryptography_key(key.public_key()))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
