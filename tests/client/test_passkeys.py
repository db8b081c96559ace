"""Passkeys with python-fido2's client and a software authenticator."""

import base64
import hashlib
import json

import pytest
from fido2.client import Fido2Client
from fido2.ctap import CtapError
from fido2.hid import CtapHidDevice
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.client.passkeys import TOUCH, VERIFY, Authenticator, PasskeyKey, Person, device_capabilities
from holdfast.client.types import CreatePasskeyOptions, CredentialDescriptor, DeviceCapabilities, Octets
from holdfast.client.vault.keys import HostKey
from holdfast.wire.client_errors import WebAuthnError
from holdfast.wire.encoding import from_base64url, to_base64url

ORIGIN = "https://vault.example"


@pytest.fixture
def device():
    return SoftwareAuthenticator()


@pytest.fixture
def authenticator(device):
    return Authenticator(ORIGIN, device)


def test_a_passkey_is_serialised_as_browsers_do(authenticator):
    made = authenticator.create_passkey(Person("ada"))
    credential = json.loads(base64.b64decode(made.credential))
    assert credential["id"] == credential["rawId"] == made.credential_id
    client_data = json.loads(from_base64url(credential["response"]["clientDataJSON"]))
    assert (client_data["type"], client_data["origin"]) == ("webauthn.create", ORIGIN)


def test_the_person_is_always_verified_and_every_ceremony_has_a_timeout(device, monkeypatch):
    """A passkey's PRF has another secret without verification. A new passkey can be found without its ID."""
    asked = []

    def noting(name, verification):
        ceremony = getattr(Fido2Client, name)

        def noted(self, options, event=None):
            asked.append((verification(options), options.timeout))
            return ceremony(self, options, event)

        monkeypatch.setattr(Fido2Client, name, noted)

    def of_new(options):
        return options.authenticator_selection.user_verification, options.authenticator_selection.resident_key

    noting("make_credential", of_new)
    noting("get_assertion", lambda options: options.user_verification)
    for authenticator, ms in ((Authenticator(ORIGIN, device), 60_000), (Authenticator(ORIGIN, device, timeout=9), 9)):
        made = authenticator.create_passkey(Person("ada"))
        authenticator.assertion(b"c" * 32, (made.credential_id,))
        authenticator.prf(made.credential_id)
        authenticator.discover()
        assert asked == [(("required", "required"), 60_000), *[("required", ms)] * 3]
        asked.clear()


def test_progress_tells_the_person_what_to_do(device):
    said = []
    Authenticator(ORIGIN, device, on_progress=said.append).create_passkey(Person("ada"))
    assert set(said) & {TOUCH, VERIFY}


def test_the_prf_is_stable_and_of_one_passkey_and_purpose(authenticator):
    first, second = (authenticator.create_passkey(Person(name)).credential_id for name in ("ada", "bob"))
    key = PasskeyKey(authenticator, first).host_key()
    assert (key.kind, key.id, len(key.secret)) == ("prf", first, 32)
    assert key == PasskeyKey(authenticator, first).host_key()
    assert key.secret != authenticator.prf(second)
    assert key.secret != authenticator.prf(first, b"another purpose")
    assert key.secret.hex() not in repr(key)


def test_a_long_credential_id_has_a_short_name_in_the_vault():
    class Key:
        def prf(self, credential_id):
            return credential_id.encode()[:32]

    long, digest = "A" * 200, to_base64url(hashlib.sha256(bytes(150)).digest())
    assert PasskeyKey(Key(), "A" * 128).host_key().id == "A" * 128
    assert PasskeyKey(Key(), long).host_key() == HostKey("prf", f"sha256:{digest}", secret=b"A" * 32)


def test_a_key_without_prf_cannot_open_a_vault():
    authenticator = Authenticator(ORIGIN, SoftwareAuthenticator(prf=False))
    made = authenticator.create_passkey(Person("ada"))
    with pytest.raises(WebAuthnError, match="returns no secret"):
        authenticator.prf(made.credential_id)


def test_a_key_that_verifies_nobody_opens_no_vault():
    """Once it has a PIN, its PRF secret would be another one, as it is in browsers, which require the PIN."""
    device = SoftwareAuthenticator()
    authenticator = Authenticator(ORIGIN, device)
    made = authenticator.create_passkey(Person("ada"))
    device.verifies = False
    for asked in (
        lambda: authenticator.create_passkey(Person("bob")),
        lambda: authenticator.prf(made.credential_id),
        authenticator.discover,
    ):
        with pytest.raises(WebAuthnError, match="no PIN"):
            asked()


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (CtapError.ERR.OPERATION_DENIED, "^cancelled on the security key"),
        (CtapError.ERR.USER_ACTION_TIMEOUT, "not touched in time"),
        (CtapError.ERR.KEEPALIVE_CANCEL, "cancelled"),
        (CtapError.ERR.OTHER, "refused"),
    ],
)
def test_refusals_are_webauthn_errors(authenticator, device, code, sentence):
    made = authenticator.create_passkey(Person("ada"))
    answer = device.call

    def refusing(cmd, data=b"", *rest):
        return bytes([code]) if data[0] in (1, 2) else answer(cmd, data, *rest)

    device.call = refusing
    with pytest.raises(WebAuthnError, match=sentence) as refused:
        authenticator.create_passkey(Person("bob"))
    assert refused.value.is_cancelled is (code != CtapError.ERR.OTHER)
    with pytest.raises(WebAuthnError):
        authenticator.assertion(b"c" * 32, (made.credential_id,))


def test_a_passkey_that_is_excluded_of_another_site_or_of_no_common_algorithm_is_not_made(authenticator):
    made = authenticator.create_passkey(Person("ada"))
    known = CredentialDescriptor(id=Octets(from_base64url(made.credential_id)), type="public-key", transports=("usb",))
    with pytest.raises(WebAuthnError, match="already holds one"):
        authenticator.create_passkey(Person("ada"), CreatePasskeyOptions(exclude_credentials=(known,)))
    with pytest.raises(WebAuthnError, match="does not match the origin"):
        authenticator.create_passkey(Person("ada"), CreatePasskeyOptions(rp_id="other.example"))
    with pytest.raises(WebAuthnError, match="algorithms"):
        Authenticator(ORIGIN, SoftwareAuthenticator(algorithms=(-39,))).create_passkey(Person("ada"))


def test_without_a_key_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(CtapHidDevice, "list_devices", lambda: iter(()))
    with pytest.raises(WebAuthnError, match="no security key"):
        Authenticator(ORIGIN).create_passkey(Person("ada"))


@pytest.mark.parametrize("machine", ["Windows", "Linux", "Darwin"])
def test_no_machine_has_an_authenticator_that_is_not_spoken_with(monkeypatch, machine):
    monkeypatch.setattr("platform.system", lambda: machine)
    monkeypatch.setattr(CtapHidDevice, "list_devices", lambda: iter(()))
    assert device_capabilities() == DeviceCapabilities(
        web_authn_supported=True, platform_auth_available=False, conditional_mediation_available=False
    )

    def refusing():
        raise OSError("not allowed")

    monkeypatch.setattr(CtapHidDevice, "list_devices", refusing)
    assert device_capabilities().web_authn_supported is False


@pytest.mark.parametrize("ask", ["assertion", "prf"])
def test_a_person_who_never_touches_the_key_is_not_waited_for_for_ever(device, ask):
    made = Authenticator(ORIGIN, device).create_passkey(Person("ada"))
    answer = device.call

    def untouched(cmd, data=b"", event=None, on_keepalive=None):
        if data[0] != 2:
            return answer(cmd, data, event, on_keepalive)
        event.wait(300)
        return bytes([CtapError.ERR.KEEPALIVE_CANCEL])

    device.call = untouched
    waiting = Authenticator(ORIGIN, device, timeout=200)
    with pytest.raises(WebAuthnError, match=r"in time|cancelled"):
        waiting.prf(made.credential_id) if ask == "prf" else waiting.assertion(b"c" * 32, (made.credential_id,))
