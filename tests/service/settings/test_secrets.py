"""The service's key as a guardian: set, generated once, or none."""

import stat

import pytest

from holdfast.service.settings.secrets import new_key, read_secrets
from holdfast.service.settings.values import read_settings
from holdfast.settings.rows import SettingError

SIGNING = {"ATTESTATION_SIGNING_KEY": new_key()}


def secrets_of(folder, **given):
    names = {f"HOLDFAST_{name}": value for name, value in given.items()}
    return read_secrets(read_settings({"HOLDFAST_DATA_DIR": str(folder), **names}), SIGNING)


def signers(secrets):
    return [key.signer for key in secrets.guardian_keys]


def test_a_guardian_key_is_generated_once_and_only_its_owner_reads_it(tmp_path):
    first = secrets_of(tmp_path / "data")
    (file,) = (tmp_path / "data").glob("*guardian*")
    assert (file.name, stat.S_IMODE(file.stat().st_mode)) == ("guardian-key", 0o600)
    assert len(signers(first)) == 1 and signers(secrets_of(tmp_path / "data")) == signers(first)
    assert file.read_text() not in repr(first.guardian_keys)
    file.chmod(0o644)
    with pytest.raises(SettingError, match="chmod 600"):
        secrets_of(tmp_path / "data")


def test_guardian_keys_that_are_set_all_sign_and_the_first_is_offered(tmp_path):
    old, new = new_key(), new_key()
    both = signers(secrets_of(tmp_path, GUARDIAN_KEY=f"{new}, 0x{old}"))
    assert both == [*signers(secrets_of(tmp_path, GUARDIAN_KEY=new)), *signers(secrets_of(tmp_path, GUARDIAN_KEY=old))]
    assert not list(tmp_path.iterdir())


def test_off_and_production_without_a_key_make_no_guardian(tmp_path):
    assert signers(secrets_of(tmp_path, GUARDIAN_KEY="off")) == []
    production = {"ENV": "production", "PUBLIC_URL": "https://vault.example", "MAIL_URL": "resend://k@", "SMS_URL": ""}
    assert signers(secrets_of(tmp_path, **production)) == []
    assert len(signers(secrets_of(tmp_path, **production, GUARDIAN_KEY=new_key()))) == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_makes_no_guardian(tmp_path):
    (tmp_path / "file").write_text("")
    assert signers(secrets_of(tmp_path / "file" / "data")) == []


@pytest.mark.parametrize("key", ["0", "zz", "00" * 32, "ff" * 32, "11" * 31, f"{'11' * 32},"])
def test_what_is_no_key_is_refused_without_repeating_it(tmp_path, key):
    with pytest.raises(SettingError, match="HOLDFAST_GUARDIAN_KEY") as caught:
        secrets_of(tmp_path, GUARDIAN_KEY=key)
    assert len(key) < 3 or key not in str(caught.value)
