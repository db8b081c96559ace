"""Each setting has its own name and form; an error names the setting and never quotes a value."""

import errno
import os
import re
import stat
import sys
from dataclasses import fields
from operator import attrgetter
from pathlib import Path

import pytest

from holdfast.indexer.settings import ROWS as INDEXER_ROWS
from holdfast.rules.limits import LIMIT_NAMES, Ceilings
from holdfast.service.settings.rows import ROWS
from holdfast.service.settings.secrets import new_key, read_secrets
from holdfast.service.settings.unknown import KNOWN, OTHERS, unknown_settings
from holdfast.service.settings.values import read_settings
from holdfast.service.store.kinds import KINDS
from holdfast.settings.rows import SettingError
from holdfast.settings.shared import default_url


def of(**given):
    """Return the settings; names are without their prefix."""
    return {f"HOLDFAST_{name.upper()}": value for name, value in given.items()}


REAL = of(mail_url="smtps://m.example", sms_url="twilio://AC1:T@VA1")
PRODUCTION = REAL | of(env="production", public_url="https://vault.example")
POSTGRESQL = of(database_url="postgresql://user@db.example/holdfast")
HERE = ("localhost:8787", "127.0.0.1", "127.9.9.9", "[::1]:8787", "ann.localhost")
ELSEWHERE = ("vault.example", "10.0.0.1", "localhost.example", "0.0.0.0", "[2001:db8::1]")
REGISTRAR = of(registrar_did="did:web:vault.example")


def test_each_limit_is_set_by_its_own_name():
    for name in LIMIT_NAMES:
        assert getattr(read_settings({name: "7"}).limits, name.lower()) == 7
    for name in (field.name for field in fields(Ceilings) if field.name != "sms_countries"):
        assert getattr(read_settings(of(**{name: "7"})).ceilings, name) == 7
        assert getattr(read_settings({}).ceilings, name) == getattr(Ceilings(), name)
        with pytest.raises(SettingError, match=f"^HOLDFAST_{name.upper()}: a whole number"):
            read_settings(of(**{name: "-1"}))


@pytest.mark.parametrize(("given", "name", "value"), [
    *((of(sms_countries=text), "ceilings.sms_countries", ("all",)) for text in ("", "all")),
    (of(sms_countries="DE, at,DE"), "ceilings.sms_countries", ("AT", "DE")),
    (of(rpc_url="https://rpc.example"), "confirmation_depth", 12),
    *((of(rpc_url=f"http://{host}:8545"), "confirmation_depth", 0) for host in ("127.0.0.1", "localhost", "[::1]")),
    (of(rpc_url="http://localhost:8545", confirmation_depth="3"), "confirmation_depth", 3),
    (PRODUCTION, "production", True),
    (PRODUCTION | of(public_url="http://localhost:8787"), "production", True),
    (PRODUCTION | {"INNGEST_DEV": "0"}, "production", True),
    (PRODUCTION | of(sms_url=""), "channels", ("handle", "email")),
    ({}, "channels", ("handle", "email", "sms")),
    (of(public_url="https://vault.example"), "channels", ("handle",)),
    (of(public_url="https://vault.example") | REAL, "channels", ("handle", "email", "sms")),
    (of(channels="sms, handle"), "channels", ("handle", "sms")),
    (of(port="9000"), "public_url", "http://localhost:9000"),
    (of(port="9000"), "registrar_did", "did:web:localhost%3A9000"),
    (of(port="0"), "public_url", "http://localhost:8787"),
    *((of(public_url=f"https://{host}") | REGISTRAR | REAL, "env", "production") for host in ELSEWHERE),
    *((of(public_url=f"http://{host}") | REGISTRAR, "production", False) for host in HERE),
    *((of(host=host), "host", host) for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9")),
    (of(host="0.0.0.0", public_url="http://localhost:8787"), "production", False),
    (of(host="0.0.0.0", env="production") | REAL, "production", True),
    (of(trusted_proxies="none"), "trusted_proxies", ()),
    (of(public_url="https://vault.example") | REAL, "registrar_did", "did:web:vault.example"),
    (of(public_url="https://vault.example:81") | REAL, "registrar_did", "did:web:vault.example%3A81"),
    (of(public_url="https://vault.example:81") | REAL, "mail_from", "Holdfast <no-reply@vault.example>"),
    ({}, "mail_from", "Holdfast <no-reply@localhost>"),
    (of(public_url="HTTPS://Vault.Example:443/") | REAL, "public_url", "https://vault.example"),
    (of(public_url="https://vault.example:80") | REAL, "public_url", "https://vault.example:80"),
    (of(related_origins="https://App.example:443/,https://b:8443"), "related_origins", ("https://app.example", "https://b:8443")),
    (of(public_url="https://[2001:db8::1]:8787") | REGISTRAR | REAL, "mail_from", "Holdfast <no-reply@[IPv6:2001:db8::1]>"),
    ({}, "blocks_stay_here", False),
    (POSTGRESQL, "blocks_stay_here", True),
    (POSTGRESQL | of(snapshots_url="file:///shared"), "blocks_stay_here", True),
    (POSTGRESQL | of(snapshots_url="s3://bucket/blocks"), "blocks_stay_here", False),
    (POSTGRESQL | of(snapshots="off"), "blocks_stay_here", False),
    *((of(database_url=f"{kind}:///x"), "database_url", f"{kind}:///x") for kind in KINDS),
    (of(database_url="postgres://u:p@h/n?a=postgres:b"), "database_url", "postgresql://u:p@h/n?a=postgres:b"),
    (of(data_dir="/data"), "database_url", default_url(Path("/data"))),
])  # fmt: skip
def test_what_settings_mean(given, name, value):
    assert attrgetter(name)(read_settings(given)) == value


NUMBER = "MAX_VERIFY_ATTEMPTS: a whole number from 0 to 1000000000 is needed$"
COUNTRIES = "HOLDFAST_SMS_COUNTRIES: all, or two-letter codes"
CHANNELS = "HOLDFAST_CHANNELS: one or more of handle, email, sms"
SECRET = ("https://ann:hunter2@vault.example", "https://hunter2@vault.example", "https://vault.example/?key=hunter2")


@pytest.mark.parametrize(("given", "told"), [
    *(({"MAX_VERIFY_ATTEMPTS": text}, NUMBER) for text in ("-1", "1.5", "1_0", "\u0663", "many", "1000000001", "9" * 5000)),
    *((of(sms_countries=text), COUNTRIES) for text in (",", "DEU", "DE,all", "+49", "D1")),
    *((of(channels=text), CHANNELS) for text in (",", "handle,", "phone", "handle;sms")),
    *((of(**{name: text}), f"HOLDFAST_{name.upper()}: an ") for name in ("public_url", "rpc_url", "bundler_url", "indexer_url")
      for text in ("http://a b", "https://a:99999", "https://a:0", "https://a:1o")),
    (of(public_url="https://b\u00fccher.example"), "HOLDFAST_PUBLIC_URL: a host in ASCII"),
    *((of(related_origins=text), "HOLDFAST_RELATED_ORIGINS: origins") for text in (",", "https://a:99999", "https://[2001")),
    *((of(trusted_proxies=text), "HOLDFAST_TRUSTED_PROXIES: addresses or CIDR blocks") for text in (",", "10.0.0.0/33")),
    *((of(**{name: f"{before}https://a{after}"}), f"HOLDFAST_{name.upper()}: remove the ")
      for name in ("public_url", "rpc_url", "database_url", "data_dir", "pages_name")
      for before, after in ((" ", ""), ("", "\n"), ('"', '"'), ("'", "'"))),
    *((of(public_url=f"https://{text}"), "HOLDFAST_PUBLIC_URL: ") for text in ("[2001", "a/vault", "münchen.example")),
    (of(usdc_8453="0x1"), "HOLDFAST_USDC_8453: .* or none"),
    (of(registrar_did="vault.example"), "HOLDFAST_REGISTRAR_DID: a DID such as did:web:"),
    (of(sponsor_contracts="registry,USDC"), "HOLDFAST_SPONSOR_CONTRACTS: .*registry, usdc"),
    (of(sponsor_max_fee="10 gwei"), "HOLDFAST_SPONSOR_MAX_FEE: an amount of gwei"),
    (of(sponsor_key="/no/such"), "HOLDFAST_SPONSOR_KEY: .* that can be read$"),
    *((of(tls_cert=__file__, **more), told) for more, told in (({}, "HOLDFAST_TLS_KEY: "),
      ({"tls_key": __file__}, "HOLDFAST_TLS_CERT: "), ({"tls_key": "/no/such"}, "HOLDFAST_TLS_KEY: no such file"))),
    *((of(sponsor_key=key * 32), "HOLDFAST_SPONSOR_KEY: this number is not a private key") for key in ("00", "ff")),
    (PRODUCTION | of(public_url="http://vault.example"), "HOLDFAST_PUBLIC_URL: "),
    (PRODUCTION | of(mail_url="outbox:"), "HOLDFAST_MAIL_URL: "),
    (PRODUCTION | of(sms_url="outbox:"), "HOLDFAST_SMS_URL: "),
    (PRODUCTION | of(sms_url="", channels="handle,sms"), "HOLDFAST_SMS_URL: "),
    (PRODUCTION | of(mail_url="", channels="email"), "HOLDFAST_MAIL_URL: "),
    (PRODUCTION | of(env="development"), "HOLDFAST_ENV: "),
    (PRODUCTION | of(faucet_url="http://127.0.0.1:8545/faucet"), "HOLDFAST_FAUCET_URL: "),
    (PRODUCTION | {"INNGEST_DEV": "1"}, "INNGEST_DEV: "),
    (PRODUCTION | {"INNGEST_DEV": "http://127.0.0.1:8288"}, "INNGEST_DEV: "),
    *((of(public_url=f"http://{host}") | REGISTRAR, "HOLDFAST_PUBLIC_URL: ") for host in ELSEWHERE),
    *((of(host=host), "HOLDFAST_PUBLIC_URL: .* set the address at which they reach it")
      for host in ("0.0.0.0", "::", "192.0.2.1", "vault.example")),
    *((of(public_url=url), "HOLDFAST_PUBLIC_URL: ") for url in SECRET),
    *((of(public_rpc_url=url), "HOLDFAST_PUBLIC_RPC_URL: ") for url in SECRET),
    (of(indexer_app="https://hunter2@indexer.example"), "HOLDFAST_INDEXER_APP: "),
    (of(public_url="https://[2001:db8::1]:8787") | REAL, "HOLDFAST_REGISTRAR_DID: .*set HOLDFAST_PUBLIC_URL to"),
    (of(mail_url="none"), "HOLDFAST_MAIL_URL: .* leave email out of HOLDFAST_CHANNELS$"),
    (of(sms_url="none"), "HOLDFAST_SMS_URL: .* leave sms out of HOLDFAST_CHANNELS$"),
    *(({name: "foo"}, f"{name}: an http") for name in ("INNGEST_BASE_URL", "INNGEST_API_BASE_URL", "INNGEST_EVENT_API_BASE_URL")),
    ({"INNGEST_SERVE_ORIGIN": "https://a:0"}, "INNGEST_SERVE_ORIGIN: an address with a port"),
    *(({"INNGEST_DEV": text}, "INNGEST_DEV: an http") for text in ("localhost:8288", "http://a b", "engine.example")),
    (of(port="8991", admin_port="8991"), "HOLDFAST_ADMIN_PORT"),
])  # fmt: skip
def test_what_is_refused_is_named_without_its_value(given, told):
    with pytest.raises(SettingError, match=f"^{told}") as caught:
        read_settings(given)
    assert not re.search(r"hunter2|2001|9999", str(caught.value))


def test_every_choice_that_production_refuses_is_named_at_once():
    with pytest.raises(SettingError) as caught:
        read_settings(of(public_url="http://vault.example") | {"INNGEST_DEV": "1"})
    assert re.findall(r"([A-Z_]+): ", str(caught.value)) == ["HOLDFAST_PUBLIC_URL", "INNGEST_DEV"]
    with pytest.raises(SettingError, match=r"^ATTESTATION_SIGNING_KEY: "):
        read_secrets(read_settings(PRODUCTION), {})


@pytest.mark.parametrize("key", ["k" * 32, "ab" * 40, "01234567" * 8])
def test_a_signing_key_of_few_letters_is_refused(key, tmp_path):
    settings = read_settings(of(data_dir=str(tmp_path)))
    with pytest.raises(SettingError, match=r"^ATTESTATION_SIGNING_KEY: ") as caught:
        read_secrets(settings, {"ATTESTATION_SIGNING_KEY": f"{new_key()},{key}"})
    assert key not in str(caught.value)
    assert len(read_secrets(settings, {"ATTESTATION_SIGNING_KEY": f"{new_key()},{new_key()}"}).signing_keys) == 2


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


SIGNING = {"ATTESTATION_SIGNING_KEY": new_key()}


def secrets_of(folder, **given):
    return read_secrets(read_settings(of(data_dir=str(folder), **given)), SIGNING)


def signers(secrets):
    return [key.signer for key in secrets.guardian_keys]


@pytest.mark.parametrize("name", ["attestation-signing-key", "guardian-key"])
def test_a_key_is_generated_once_and_only_its_owner_reads_it(tmp_path, name):
    def keys():
        secrets = read_secrets(read_settings(of(data_dir=str(tmp_path / "data"))), {})
        assert file.read_text() not in repr(secrets)
        return secrets.signing_keys, signers(secrets)

    file = tmp_path / "data" / name
    first = keys()
    assert [len(each) for each in first] == [1, 1] and keys() == first
    assert (len(file.read_text()), stat.S_IMODE(file.stat().st_mode)) == (64, 0o600)
    file.chmod(0o644)
    with pytest.raises(SettingError, match="chmod 600"):
        keys()


def test_guardian_keys_that_are_set_all_sign_and_without_one_there_is_no_guardian(tmp_path):
    old, new = new_key(), new_key()
    both = signers(secrets_of(tmp_path, guardian_key=f"{new}, 0x{old}"))
    assert both == [*signers(secrets_of(tmp_path, guardian_key=new)), *signers(secrets_of(tmp_path, guardian_key=old))]
    assert not list(tmp_path.iterdir())
    assert signers(secrets_of(tmp_path, guardian_key="off")) == []
    production = {"env": "production", "public_url": "https://vault.example", "mail_url": "resend://k@", "sms_url": ""}
    assert signers(secrets_of(tmp_path, **production)) == []
    assert len(signers(secrets_of(tmp_path, **production, guardian_key=new_key()))) == 1
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    assert signers(secrets_of(tmp_path / "file" / "data")) == []


def test_what_is_no_key_is_refused_without_repeating_it(tmp_path):
    for key in ("0", "zz", "00" * 32, "ff" * 32, "11" * 31, f"{'11' * 32},"):
        with pytest.raises(SettingError, match="HOLDFAST_GUARDIAN_KEY") as caught:
            secrets_of(tmp_path, guardian_key=key)
        assert len(key) < 3 or key not in str(caught.value)
    file = tmp_path / "key"
    file.write_bytes(b"\xff" * 64)
    file.chmod(0o600)
    with pytest.raises(SettingError, match=r"^HOLDFAST_SPONSOR_KEY: .* that can be read$"):
        read_settings(of(sponsor_key=str(file)))


def test_a_key_that_finds_no_room_leaves_no_piece_of_a_file(tmp_path, monkeypatch):
    def fail(_descriptor):
        raise OSError(errno.ENOSPC, "no space left on device")

    settings = read_settings(of(data_dir=str(tmp_path)))
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="no space"):
            read_secrets(settings, {})
        assert list(tmp_path.iterdir()) == []
    assert read_secrets(settings, {}).generated


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
    near, far = unknown_settings(given | {"OTHER": "1", "MAX_VERIFY_ATTEMPTS": "5", "ATTESTATION_SIGNING_KEY": "k"})
    assert near == "HOLDFAST_PROT: no setting has this name, so it has no effect; did you mean HOLDFAST_PORT?"
    assert far == "HOLDFAST_ZZZZ: no setting has this name, so it has no effect"
    [told] = unknown_settings({"HOLDFAST_\x1b[2J": ""})
    assert "\x1b" not in told
    for given, meant in (
        ("MAX_VERIFY_ATTEMPT", "MAX_VERIFY_ATTEMPTS"), ("ATTESTATION_SIGNING_KEYS", "ATTESTATION_SIGNING_KEY"),
        ("HOLDFAST_MAX_REGISTRATIONS_PER_IP", "MAX_REGISTRATIONS_PER_IP"),
    ):  # fmt: skip
        [told] = unknown_settings({given: "hunter2"})
        assert told == f"{given}: no setting has this name, so it has no effect; did you mean {meant}?"
