"""The software authenticator: its passkeys outlive the process, only their owner can read them, and they say what they are."""

import base64
import json
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

import holdfast
from holdfast.client.software_authenticator import AAGUID, SoftwareAuthenticator

ORIGIN = "https://vault.example"
PERSON = holdfast.Person("agent", id=b"u" * 32)


def authenticator(file=None):
    return holdfast.Authenticator(ORIGIN, SoftwareAuthenticator(file))


def test_a_passkey_opens_the_same_vault_in_the_next_process_and_only_its_owner_can_read_it(tmp_path):
    file = tmp_path / "passkeys.json"
    made = authenticator(file).create_passkey(PERSON)
    secret = authenticator(file).prf(made.credential_id)
    found = authenticator(file).discover()
    assert (found.credential_id, found.user_handle, found.secret) == (made.credential_id, PERSON.id, secret)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    attestation = json.loads(base64.b64decode(made.credential))["response"]["attestationObject"]
    assert AAGUID in base64.urlsafe_b64decode(attestation + "=="), "it says that it is software"
    other = holdfast.Authenticator("https://other.example", SoftwareAuthenticator(file))
    with pytest.raises(holdfast.WebAuthnError):
        other.prf(made.credential_id)


def test_a_file_through_a_link_is_refused_and_a_folder_is_told(tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    authenticator(target).create_passkey(PERSON)
    link.symlink_to(target)
    for place, told in ((link, None), (tmp_path, r"^the passkeys in .* cannot be read: ")):
        with pytest.raises(holdfast.WebAuthnError, match=told):
            SoftwareAuthenticator(place)


def test_objects_that_share_a_file_lose_no_passkey(tmp_path):
    file = tmp_path / "passkeys.json"
    sharing = [authenticator(file) for _ in range(4)]
    with ThreadPoolExecutor(len(sharing)) as threads:
        made = list(threads.map(lambda it: it.create_passkey(PERSON).credential_id, sharing))
    for passkeys in [*sharing, authenticator(file)]:
        assert all(passkeys.prf(credential_id) for credential_id in made)


@pytest.mark.parametrize(
    "damaged", [b"", b"[]", b"{}", b'{"passkeys": {"?": {}}}', b'{"passkeys": {"AA==": {"key": "AA=="}}}']
)
def test_a_damaged_file_is_an_error_and_stays(tmp_path, damaged):
    file = tmp_path / "passkeys.json"
    file.write_bytes(damaged)
    with pytest.raises(holdfast.WebAuthnError, match="is not a file of passkeys"):
        SoftwareAuthenticator(file)
    assert file.read_bytes() == damaged
