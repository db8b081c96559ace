"""Passkeys on security keys over USB and NFC (python-fido2): creation, assertions, and the PRF that unlocks a vault."""

from __future__ import annotations

import base64
import json
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from holdfast.client.types import CreatePasskeyOptions, CreatePasskeyResult, DeviceCapabilities
from holdfast.client.types.webauthn import DEFAULT_TIMEOUT_MS
from holdfast.client.vault.keys import DiscoveredPasskey, HostKey, passkey_key
from holdfast.wire.client_errors import WebAuthnError
from holdfast.wire.encoding import from_base64url, to_base64url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fido2.client import Fido2Client
    from fido2.ctap import CtapDevice

    from holdfast.client.vault.calls import PublishingKey

TOUCH = "touch your security key"
VERIFY = "verify yourself on your security key"

# The algorithms in order of preference: P-256, Ed25519, RSA (IANA COSE algorithms). The browser client uses the same
# order.
ALGORITHMS = (-7, -8, -257)
# With and without user verification, a passkey returns different PRF secrets (CTAP 2.1, section 12.5). A vault that was
# made without a PIN would not open any more once the security key has one.
_VERIFICATION = "required"
_CHALLENGE_BYTES = 32
# The PRF input for all vault keys (WebAuthn Level 3, section 10.1.4). Any other purpose needs a different input.
PRF_INPUT = b"holdfast/vault-key/v1"


@dataclass(frozen=True, slots=True)
class Person:
    """The person for whom a passkey is created.

    `id` is the passkey's user handle, which says nothing about the person. For a vault's passkey, use `of`, because
    the default, a random user handle, does not lead to the vault's snapshots.
    """

    name: str
    display_name: str = ""
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    @classmethod
    def of(cls, key: PublishingKey, name: str, display_name: str = "") -> Self:
        """Return the person to whom a vault belongs, with a user handle that leads to the vault's snapshots.

        Args:
            key: the vault's `publishing_key()`, before or after `generate`.
            name: what the device shows.
            display_name: a longer name; `name` unless given.
        """
        return cls(name, display_name, key.user_handle)


@dataclass(frozen=True, slots=True)
class Authenticator:
    """One security key, with callbacks for prompting the person who uses it.

    Args:
        origin: the service's address. Its host is the relying party, unless `rp_id` is given.
        device: the security key; by default the first one found.
        on_progress: called with what the person has to do ("touch your security key").
        ask_pin: returns the key's PIN. Without it, a key that requires a PIN is refused.
        timeout: milliseconds until an assertion or a PRF evaluation fails. The timeout of a registration
            is in its options.
    """

    origin: str
    device: CtapDevice | None = None
    on_progress: Callable[[str], None] | None = None
    ask_pin: Callable[[], str] | None = field(default=None, repr=False)
    timeout: int = DEFAULT_TIMEOUT_MS

    @property
    def rp_id(self) -> str:
        """The relying party's ID: the origin's host."""
        return urlsplit(self.origin).hostname or ""

    def create_passkey(self, person: Person, options: CreatePasskeyOptions | None = None) -> CreatePasskeyResult:
        """Create a passkey. Raises WebAuthnError: cancelled, timed out, excluded, no key, no common algorithm."""
        chosen = options or CreatePasskeyOptions()
        with _webauthn_errors():
            made = self._client().make_credential(_creation(person, chosen, chosen.rp_id or self.rp_id))
        return CreatePasskeyResult(credential=_serialised(made), credential_id=str(made.id))

    def assertion(self, challenge: bytes, credential_ids: tuple[str, ...] = (), *, rp_id: str | None = None) -> str:
        """Sign a challenge and return the serialised assertion in base64. Raises WebAuthnError."""
        return self.assertions(challenge, credential_ids, rp_id=rp_id)[0]

    def assertions(
        self, challenge: bytes, credential_ids: tuple[str, ...] = (), *, rp_id: str | None = None
    ) -> list[str]:
        """Return the same for every passkey of the relying party that the key has, without letting the person choose.

        A key with a display lets the person choose, and returns one. Raises WebAuthnError.
        """
        request = self._request(challenge, credential_ids, rp_id or self.rp_id, {})
        with _webauthn_errors():
            made = self._client().get_assertion(request)
            return [_serialised(made.get_response(index)) for index in range(len(made.get_assertions()))]

    def prf(self, credential_id: str, purpose: bytes = PRF_INPUT) -> bytes:
        """Return the passkey's 32-byte PRF output for a purpose.

        Raises WebAuthnError, even if only the PRF is missing.
        """
        extensions = {"prf": {"eval": {"first": purpose}}}
        request = self._request(secrets.token_bytes(_CHALLENGE_BYTES), (credential_id,), self.rp_id, extensions)
        with _webauthn_errors():
            answer = self._client().get_assertion(request).get_response(0)
        extended: Any = answer.client_extension_results or {}
        results = extended.get("prf", {}).get("results", {})
        if not results.get("first"):
            raise WebAuthnError(
                "this passkey returns no secret (PRF): protect the vault with a password, or use another passkey"
            )
        return _octets(results["first"])

    def discover(self) -> DiscoveredPasskey:
        """Let the person choose one of the relying party's passkeys.

        Return the passkey with its user handle and PRF output.

        Raises WebAuthnError, also if the security key stores no such passkey.
        """
        extensions = {"prf": {"eval": {"first": PRF_INPUT}}}
        request = self._request(secrets.token_bytes(_CHALLENGE_BYTES), (), self.rp_id, extensions)
        with _webauthn_errors():
            answer = self._client().get_assertion(request).get_response(0)
        extended: Any = answer.client_extension_results or {}
        secret = extended.get("prf", {}).get("results", {}).get("first")
        handle = answer.response.user_handle or b""
        return DiscoveredPasskey(str(answer.id), bytes(handle), _octets(secret) if secret else None)

    def _request(
        self, challenge: bytes, credential_ids: tuple[str, ...], rp_id: str, extensions: dict[str, Any]
    ) -> Any:
        from fido2.webauthn import PublicKeyCredentialRequestOptions

        allowed = [{"type": "public-key", "id": from_base64url(name)} for name in credential_ids]
        return PublicKeyCredentialRequestOptions.from_dict(
            {
                "challenge": challenge,
                "timeout": self.timeout,
                "rpId": rp_id,
                "allowCredentials": allowed or None,
                "userVerification": _VERIFICATION,
                "extensions": extensions,
            }
        )

    def _client(self) -> Fido2Client:
        from fido2.client import DefaultClientDataCollector, Fido2Client

        device = self.device or _first_device()
        return Fido2Client(
            device, DefaultClientDataCollector(self.origin), _interaction(self.on_progress, self.ask_pin)
        )


@dataclass(frozen=True, slots=True)
class PasskeyKey:
    """A KeyProvider whose secret is the PRF output of a passkey on a security key."""

    authenticator: Authenticator
    credential_id: str

    def host_key(self) -> HostKey:
        """See KeyProvider. The person has to touch the security key."""
        return passkey_key(self.credential_id, self.authenticator.prf(self.credential_id))


def device_capabilities() -> DeviceCapabilities:
    """Return the passkey features of this machine: security keys, if this process may list the attached devices.

    Built-in authenticators (Windows Hello, Touch ID, Android) are not supported, so `platform_auth_available` is
    always False.
    """
    return DeviceCapabilities(
        web_authn_supported=_can_list_devices(),
        platform_auth_available=False,
        conditional_mediation_available=False,  # conditional mediation (autofill) exists in browsers only
    )


def _creation(person: Person, options: CreatePasskeyOptions, rp_id: str) -> Any:
    from fido2.webauthn import PublicKeyCredentialCreationOptions

    exclude = [
        {
            "id": to_base64url(item.id),
            "type": item.type,
            **({"transports": list(item.transports)} if item.transports else {}),
        }
        for item in options.exclude_credentials or ()
    ]
    return PublicKeyCredentialCreationOptions.from_dict(
        {
            "rp": {"id": rp_id, "name": options.rp_name},
            "user": {"id": person.id, "name": person.name, "displayName": person.display_name or person.name},
            "challenge": secrets.token_bytes(_CHALLENGE_BYTES),
            "pubKeyCredParams": [{"type": "public-key", "alg": algorithm} for algorithm in ALGORITHMS],
            "timeout": options.timeout,
            "excludeCredentials": [{**item, "id": from_base64url(str(item["id"]))} for item in exclude],
            "authenticatorSelection": {
                "residentKey": "required",  # recovery finds the vault by the passkey alone
                "userVerification": _VERIFICATION,
            },
            "attestation": "none",
            "extensions": {"prf": {}},
        }
    )


def _serialised(response: Any) -> str:
    return base64.b64encode(json.dumps(dict(response)).encode()).decode()


def _octets(value: Any) -> bytes:
    return from_base64url(value) if isinstance(value, str) else bytes(value)


def _interaction(on_progress: Callable[[str], None] | None, ask_pin: Callable[[], str] | None) -> Any:
    from fido2.client import UserInteraction

    class Interaction(UserInteraction):
        def prompt_up(self) -> None:
            if on_progress is not None:
                on_progress(TOUCH)

        def request_uv(self, permissions: Any, rp_id: str | None) -> bool:  # noqa: ARG002 - the library's signature
            if on_progress is not None:
                on_progress(VERIFY)
            return True

        def request_pin(self, permissions: Any, rp_id: str | None) -> str | None:  # noqa: ARG002 - the library's signature
            return ask_pin() if ask_pin is not None else None

    return Interaction()


def _devices() -> Iterator[CtapDevice]:
    from fido2.hid import CtapHidDevice

    yield from CtapHidDevice.list_devices()
    try:
        from fido2.pcsc import CtapPcscDevice  # imports pyscard, which needs the system's smart card service
    except ImportError:
        return
    yield from CtapPcscDevice.list_devices()


def _first_device() -> CtapDevice:
    for device in _devices():
        return device
    raise WebAuthnError(
        "no security key is plugged in: plug one in, or use holdfast.SoftwareAuthenticator"
        " (holdfast vault create --password)"
    )


def _can_list_devices() -> bool:
    try:
        for _ in _devices():
            break
    except Exception:  # noqa: BLE001 - whatever the operating system's back end raises, there is no key
        return False
    return True


@contextmanager
def _webauthn_errors() -> Iterator[None]:
    """Convert python-fido2's exceptions to WebAuthnError with a human-readable message."""
    from fido2.client import ClientError, PinRequiredError
    from fido2.ctap import CtapError

    try:
        yield
    except PinRequiredError as error:
        raise WebAuthnError("the security key needs its PIN", is_cancelled=True) from error
    except ClientError as error:
        denied = getattr(error.cause, "code", None) in _DENIED
        sentence = "cancelled on the security key" if denied else _SENTENCES.get(error.code.name, _REFUSED)
        raise WebAuthnError(sentence, is_cancelled=denied or error.code is ClientError.ERR.TIMEOUT) from error
    except (CtapError, OSError, ValueError) as error:
        raise WebAuthnError("the security key failed: plug it in again, and try once more") from error


_REFUSED = "the security key refused"
_DENIED = frozenset({0x27, 0x2D})  # CTAP 2.1 section 8.2: OPERATION_DENIED, KEEPALIVE_CANCEL
_SENTENCES = {
    "CONFIGURATION_UNSUPPORTED": "the security key lacks the required algorithms or options, or has no PIN yet",
    "DEVICE_INELIGIBLE": "the security key does not hold this passkey, or already holds one for this person",
    "TIMEOUT": "cancelled, or not touched in time",
    "BAD_REQUEST": "the relying party ID does not match the origin",
}
