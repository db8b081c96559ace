"""Each setting has its own name and form; an error names the setting and never quotes a value."""

import re
import stat
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from holdfast.indexer.settings import ROWS as INDEXER_ROWS
from holdfast.rules.limits import LIMIT_NAMES, Ceilings
from holdfast.service.settings.data_folder import make_data_folder
from holdfast.service.settings.rows import ROWS
from holdfast.service.settings.secrets import new_key, read_secrets
from holdfast.service.settings.unknown import KNOWN, OTHERS, unknown_settings
from holdfast.service.settings.values import read_settings
from holdfast.service.store.kinds import KINDS
from holdfast.settings.rows import SettingError
from holdfast.settings.shared import default_url


@pytest.mark.parametrize("name", LIMIT_NAMES)
def test_each_limit_is_set_by_its_own_name(name):
    assert getattr(read_settings({name: "7"}).limits, name.lower()) == 7


@pytest.mark.parametrize("text", ["-1", "1.5", "1_0", "\u0663", " 7", "many", "1000000001", "9" * 5000])
def test_a_limit_that_is_no_whole_number_is_refused_without_repeating_it(text):
    with pytest.raises(SettingError, match=r"^MAX_VERIFY_ATTEMPTS: a whole number from 0 to 1000000000 is needed$"):
        read_settings({"MAX_VERIFY_ATTEMPTS": text})


@pytest.mark.parametrize("name", [field.name for field in fields(Ceilings) if field.name != "sms_countries"])
def test_each_added_limit_is_set_by_a_name_of_ours(name):
    assert getattr(read_settings({f"HOLDFAST_{name.upper()}": "7"}).ceilings, name) == 7
    assert getattr(read_settings({}).ceilings, name) == getattr(Ceilings(), name)
    with pytest.raises(SettingError, match=f"^HOLDFAST_{name.upper()}: a whole number"):
        read_settings({f"HOLDFAST_{name.upper()}": "-1"})


@pytest.mark.parametrize(
    ("text", "countries"), [("", ("all",)), ("all", ("all",)), ("de", ("DE",)), ("DE, at,DE", ("AT", "DE"))]
)
def test_countries_are_two_letters_each(text, countries):
    assert read_settings({"HOLDFAST_SMS_COUNTRIES": text}).ceilings.sms_countries == countries


@pytest.mark.parametrize("text", [",", "DEU", "DE,all", "+49", "D1"])
def test_what_is_no_country_is_refused(text):
    with pytest.raises(SettingError, match=r"^HOLDFAST_SMS_COUNTRIES: all, or two-letter codes"):
        read_settings({"HOLDFAST_SMS_COUNTRIES": text})


@pytest.mark.parametrize(
    ("url", "depth"),
    [("http://127.0.0.1:8545", 0), ("http://localhost:8545", 0), ("http://[::1]:8545", 0), ("https://rpc.example", 12)],
)
def test_only_a_chain_on_this_machine_needs_no_depth(url, depth):
    assert read_settings({"HOLDFAST_RPC_URL": url}).confirmation_depth == depth
    assert read_settings({"HOLDFAST_RPC_URL": url, "HOLDFAST_CONFIRMATION_DEPTH": "3"}).confirmation_depth == 3
    assert read_settings({}).confirmation_depth == 12


PRODUCTION = {
    "HOLDFAST_ENV": "production", "HOLDFAST_MAIL_URL": "smtps://m.example", "HOLDFAST_SMS_URL": "twilio://AC1:T@VA1",
    "HOLDFAST_PUBLIC_URL": "https://vault.example",
}  # fmt: skip


@pytest.mark.parametrize(("change", "refused"), [
    ({}, ""),
    ({"HOLDFAST_PUBLIC_URL": "http://localhost:8787"}, ""),
    ({"INNGEST_DEV": "0"}, ""),
    ({"HOLDFAST_PUBLIC_URL": "http://vault.example"}, "HOLDFAST_PUBLIC_URL"),
    ({"HOLDFAST_MAIL_URL": "outbox:"}, "HOLDFAST_MAIL_URL"),
    ({"HOLDFAST_SMS_URL": ""}, ""),
    ({"HOLDFAST_MAIL_URL": "", "HOLDFAST_SMS_URL": ""}, ""),
    ({"HOLDFAST_SMS_URL": "outbox:"}, "HOLDFAST_SMS_URL"),
    ({"HOLDFAST_SMS_URL": "", "HOLDFAST_CHANNELS": "handle,sms"}, "HOLDFAST_SMS_URL"),
    ({"HOLDFAST_MAIL_URL": "", "HOLDFAST_CHANNELS": "email"}, "HOLDFAST_MAIL_URL"),
    ({"HOLDFAST_ENV": "development"}, "HOLDFAST_ENV"),
    ({"HOLDFAST_FAUCET_URL": "http://127.0.0.1:8545/faucet"}, "HOLDFAST_FAUCET_URL"),
    ({"INNGEST_DEV": "1"}, "INNGEST_DEV"),
    ({"INNGEST_DEV": "http://127.0.0.1:8288"}, "INNGEST_DEV"),
])  # fmt: skip
def test_production_refuses_development_choices(change, refused):
    if not refused:
        assert read_settings({**PRODUCTION, **change}).production
        return
    with pytest.raises(SettingError, match=f"^{refused}: "):
        read_settings({**PRODUCTION, **change})


REAL = {name: PRODUCTION[name] for name in ("HOLDFAST_MAIL_URL", "HOLDFAST_SMS_URL")}


def test_the_address_unless_set_has_the_port_and_names_the_registrar():
    settings = read_settings({"HOLDFAST_PORT": "9000"})
    assert (settings.public_url, settings.registrar_did) == ("http://localhost:9000", "did:web:localhost%3A9000")
    assert read_settings({"HOLDFAST_PORT": "0"}).public_url == "http://localhost:8787"


@pytest.mark.parametrize("host", ["vault.example", "10.0.0.1", "localhost.example", "0.0.0.0", "[2001:db8::1]"])
def test_a_public_url_that_others_reach_counts_as_production(host):
    given = {"HOLDFAST_PUBLIC_URL": f"http://{host}", "HOLDFAST_REGISTRAR_DID": "did:web:vault.example"}
    with pytest.raises(SettingError) as caught:
        read_settings({**given, "INNGEST_DEV": "1"})
    assert re.findall(r"([A-Z_]+): ", str(caught.value)) == ["HOLDFAST_PUBLIC_URL", "INNGEST_DEV"]
    settings = read_settings({**given, **REAL, "HOLDFAST_PUBLIC_URL": f"https://{host}"})
    assert settings.env == "production"
    with pytest.raises(SettingError, match=r"^ATTESTATION_SIGNING_KEY: "):
        read_secrets(settings, {})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "vault.example"])
def test_in_development_a_service_that_others_reach_names_its_address(host):
    with pytest.raises(SettingError, match=r"^HOLDFAST_PUBLIC_URL: .* set the address at which they reach it"):
        read_settings({"HOLDFAST_HOST": host})
    named = {"HOLDFAST_HOST": host, "HOLDFAST_PUBLIC_URL": "http://localhost:8787"}
    assert not read_settings(named).production
    assert read_settings({**REAL, "HOLDFAST_HOST": host, "HOLDFAST_ENV": "production"}).production


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_in_development_a_service_of_this_machine_needs_no_address(host):
    assert read_settings({"HOLDFAST_HOST": host}).host == host


@pytest.mark.parametrize("host", ["localhost:8787", "127.0.0.1", "127.9.9.9", "[::1]:8787", "ann.localhost"])
def test_a_public_url_of_this_machine_is_development(host):
    given = {"HOLDFAST_PUBLIC_URL": f"http://{host}", "HOLDFAST_REGISTRAR_DID": "did:web:localhost"}
    assert not read_settings(given).production


@pytest.mark.parametrize(
    "url", ["https://ann:hunter2@vault.example", "https://hunter2@vault.example", "https://vault.example/?key=hunter2"]
)
@pytest.mark.parametrize("name", ["HOLDFAST_PUBLIC_URL", "HOLDFAST_PUBLIC_RPC_URL"])
def test_a_secret_in_an_address_that_is_shown_is_refused(name, url):
    with pytest.raises(SettingError, match=f"^{name}: ") as caught:
        read_settings({name: url})
    assert "hunter2" not in str(caught.value)


def test_a_secret_typed_as_the_indexers_module_is_refused():
    with pytest.raises(SettingError, match=r"^HOLDFAST_INDEXER_APP: ") as caught:
        read_settings({"HOLDFAST_INDEXER_APP": "https://hunter2@indexer.example"})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["k" * 32, "ab" * 40, "01234567" * 8])
def test_a_signing_key_of_few_letters_is_refused(key, tmp_path):
    settings = read_settings({"HOLDFAST_DATA_DIR": str(tmp_path)})
    with pytest.raises(SettingError, match=r"^ATTESTATION_SIGNING_KEY: ") as caught:
        read_secrets(settings, {"ATTESTATION_SIGNING_KEY": f"{new_key()},{key}"})
    assert key not in str(caught.value)
    assert len(read_secrets(settings, {"ATTESTATION_SIGNING_KEY": f"{new_key()},{new_key()}"}).signing_keys) == 2


def test_no_proxy_at_all_can_be_said():
    assert read_settings({"HOLDFAST_TRUSTED_PROXIES": "none"}).trusted_proxies == ()


def test_an_ipv6_address_as_public_host_says_what_to_set():
    given = {"HOLDFAST_PUBLIC_URL": "https://[2001:db8::1]:8787"}
    with pytest.raises(SettingError, match=r"^HOLDFAST_REGISTRAR_DID: .*set HOLDFAST_PUBLIC_URL to") as caught:
        read_settings({**given, **REAL})
    assert "2001" not in str(caught.value)
    settings = read_settings({**given, **REAL, "HOLDFAST_REGISTRAR_DID": "did:web:vault.example"})
    assert settings.registrar_did == "did:web:vault.example"
    assert settings.mail_from == "Holdfast <no-reply@[IPv6:2001:db8::1]>"


@pytest.mark.parametrize(("url", "registrar", "sender"), [
    ("https://vault.example", "did:web:vault.example", "vault.example"),
    ("http://localhost:8787", "did:web:localhost%3A8787", "localhost"),
    ("https://vault.example:81", "did:web:vault.example%3A81", "vault.example"),
])  # fmt: skip
def test_registrar_and_sender_come_from_the_public_host(url, registrar, sender):
    settings = read_settings({**REAL, "HOLDFAST_PUBLIC_URL": url})
    assert (settings.registrar_did, settings.mail_from) == (registrar, f"Holdfast <no-reply@{sender}>")


POSTGRESQL = "postgresql://user@db.example/holdfast"


@pytest.mark.parametrize(("database", "place", "stay"), [
    ({}, {}, False),
    ({"HOLDFAST_DATABASE_URL": POSTGRESQL}, {}, True),
    ({"HOLDFAST_DATABASE_URL": POSTGRESQL}, {"HOLDFAST_SNAPSHOTS_URL": "file:///shared"}, True),
    ({"HOLDFAST_DATABASE_URL": POSTGRESQL}, {"HOLDFAST_SNAPSHOTS_URL": "s3://bucket/blocks"}, False),
    ({"HOLDFAST_DATABASE_URL": POSTGRESQL}, {"HOLDFAST_SNAPSHOTS": "off"}, False),
])  # fmt: skip
def test_a_folder_of_blocks_and_a_database_that_others_may_share(database, place, stay):
    assert read_settings({**database, **place}).blocks_stay_here is stay


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_database_can_be_named(kind):
    assert read_settings({"HOLDFAST_DATABASE_URL": f"{kind}:///x"}).database_url == f"{kind}:///x"


def test_a_database_may_be_named_as_hosts_name_it():
    named = read_settings({"HOLDFAST_DATABASE_URL": "postgres://u:p@h/n?a=postgres:b"})
    assert named.database_url == "postgresql://u:p@h/n?a=postgres:b"


@pytest.mark.parametrize(("channel", "name"), [("email", "HOLDFAST_MAIL_URL"), ("sms", "HOLDFAST_SMS_URL")])
def test_who_wants_no_provider_is_told_how(channel, name):
    with pytest.raises(SettingError, match=f"^{name}: .* leave {channel} out of HOLDFAST_CHANNELS$"):
        read_settings({name: "none"})


def test_the_usual_database_is_a_file_in_the_data_folder(tmp_path):
    assert read_settings({"HOLDFAST_DATA_DIR": str(tmp_path)}).database_url == default_url(tmp_path)


def test_a_new_data_folder_is_this_users_alone(tmp_path):
    make_data_folder(tmp_path / "data")
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["INNGEST_SIGNING_KEY", "INNGEST_DEV"])
def test_an_engine_without_its_sdk_is_refused_with_the_extra(name, monkeypatch):
    environment = {name: "1"}
    assert read_settings(environment)
    for package in ("inngest", "fastapi"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, package, None)
            with pytest.raises(SettingError, match=rf"^{name}: .*pip install .*'inngest"):
                read_settings(environment)
    assert read_settings({}), "without an engine, the SDK is not needed"


@pytest.mark.parametrize(("given", "channels"), [
    ({}, ("handle", "email", "sms")),
    ({"HOLDFAST_PUBLIC_URL": "https://vault.example"}, ("handle",)),
    ({"HOLDFAST_PUBLIC_URL": "https://vault.example", **REAL}, ("handle", "email", "sms")),
    ({**PRODUCTION, "HOLDFAST_SMS_URL": ""}, ("handle", "email")),
    ({"HOLDFAST_CHANNELS": "sms, handle"}, ("handle", "sms")),
    ({"HOLDFAST_CHANNELS": "email"}, ("email",)),
])  # fmt: skip
def test_production_offers_the_channels_that_have_a_provider(given, channels):
    assert read_settings(given).channels == channels


@pytest.mark.parametrize("text", [",", "handle,", "phone", "handle;sms"])
def test_what_is_no_channel_is_refused(text):
    with pytest.raises(SettingError, match=r"^HOLDFAST_CHANNELS: one or more of handle, email, sms"):
        read_settings({"HOLDFAST_CHANNELS": text})


def test_the_admin_port_is_another_than_the_port():
    with pytest.raises(SettingError, match="HOLDFAST_ADMIN_PORT"):
        read_settings({"HOLDFAST_PORT": "8991", "HOLDFAST_ADMIN_PORT": "8991"})


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


SOURCE = Path(__file__).resolve().parents[3] / "src" / "holdfast"


def test_every_variable_that_the_package_reads_is_known():
    found = {
        name
        for file in SOURCE.rglob("*.py")
        for name in re.findall(r'"(HOLDFAST_[A-Z0-9_]*[A-Z0-9])"', file.read_text("utf-8"))
    }
    assert found - KNOWN == set()
    assert {row.name for row in INDEXER_ROWS} <= OTHERS
    assert OTHERS - {row.name for row in INDEXER_ROWS} <= found
    assert not OTHERS & {row.name for row in ROWS}


def test_an_unknown_name_is_told_without_its_value():
    given = {"HOLDFAST_PROT": "hunter2", "HOLDFAST_ZZZZ": "hunter2", "HOLDFAST_PORT": "1", "HOLDFAST_VAULT_DIR": "/x"}
    near, far = unknown_settings(given | {"OTHER": "1"})
    assert near == "HOLDFAST_PROT: no setting has this name, so it has no effect; did you mean HOLDFAST_PORT?"
    assert far == "HOLDFAST_ZZZZ: no setting has this name, so it has no effect"


def test_an_unprintable_name_is_escaped():
    [told] = unknown_settings({"HOLDFAST_\x1b[2J": ""})
    assert "\x1b" not in told
