"""`holdfast config` and `holdfast keys new`: the settings in effect, without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.cli.config import mask
from holdfast.cli.exits import Exit
from holdfast.indexer.settings import ROWS as INDEXER_ROWS
from holdfast.service.settings.rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.operator import Answer

SECRETS = {
    "HOLDFAST_MAIL_URL": "smtp+starttls://ann%40example.org:hunter2@mail.example:587?ca_file=/hunter2",
    "HOLDFAST_SMS_URL": "twilio://AChunter2:hunter2@VA1",
    "HOLDFAST_RPC_URL": "https://rpc.example/v2/hunter2",
    "HOLDFAST_RPC_URL_8453": "https://hunter2:hunter2@rpc.example/?key=hunter2",
    "HOLDFAST_BUNDLER_URL": "https://bundler.example/hunter2",
    "HOLDFAST_INDEXER_URL": "https://indexer.example?key=hunter2",
    "HOLDFAST_ENCLAVE_URL": "s3://releases/hunter2?endpoint=https://hunter2@s3.example",
    "HOLDFAST_WEBHOOK_SECRET": "whsec_hunter2hunter2hunter2hunter2hunt",
    "ATTESTATION_SIGNING_KEY": "hunter2" * 8,
}


def test_every_setting_is_shown_with_what_it_is_for(holdfast: Callable[..., Answer], tmp_path: Path) -> None:
    answer = holdfast("config", workers="3")
    assert answer.code == Exit.OK
    lines = {line[2:].partition("=")[0]: line for line in answer.out.splitlines()}
    for row in (*ROWS, *INDEXER_ROWS):
        assert lines[row.name].endswith(f"# {row.about}")
    assert lines["HOLDFAST_WORKERS"].startswith("* HOLDFAST_WORKERS=3 ")
    assert lines["HOLDFAST_SERVER"].startswith("  HOLDFAST_SERVER=granian ")
    assert lines["MAX_REGISTRATIONS_PER_IP"] == "  MAX_REGISTRATIONS_PER_IP=3"
    assert not (tmp_path / "data").exists()  # showing settings creates no files


def test_json_is_one_object_of_the_same_names(holdfast: Callable[..., Answer]) -> None:
    value = holdfast("config", "--json", port="9000", trusted_proxies="10.0.0.0/8,::1").value
    assert {row.name for row in (*ROWS, *INDEXER_ROWS)} < set(value)
    assert value["HOLDFAST_PORT"] == 9000
    assert value["HOLDFAST_TRUSTED_PROXIES"] == "10.0.0.0/8,::1/128"
    assert value["HOLDFAST_BUNDLER_URL"] is None
    assert holdfast("config", "--json", trusted_proxies="none").value["HOLDFAST_TRUSTED_PROXIES"] == "none"
    assert value["ATTESTATION_TTL_SECONDS"] == 300
    assert value["ATTESTATION_SIGNING_KEY"] is None


def test_the_indexers_own_settings_are_those_in_force(holdfast: Callable[..., Answer], tmp_path: Path) -> None:
    usual = holdfast("config", "--json").value
    assert usual["HOLDFAST_INDEXER_DATABASE_URL"] == f"sqlite:///{tmp_path}/data/indexer.db"
    assert (usual["HOLDFAST_INDEXER_HOST"], usual["HOLDFAST_INDEXER_PORT"]) == ("127.0.0.1", 8788)
    assert (usual["HOLDFAST_INDEXER_START_BLOCK"], usual["HOLDFAST_INDEXER_JOURNAL_BLOCKS"]) == (0, 1024)
    given = {"indexer_port": "9000", "indexer_poll_seconds": "0.5", "indexer_database_url": "sqlite:////a/b"}
    value = holdfast("config", "--json", **given).value
    assert (value["HOLDFAST_INDEXER_PORT"], value["HOLDFAST_INDEXER_POLL_SECONDS"]) == (9000, 0.5)
    assert value["HOLDFAST_INDEXER_DATABASE_URL"] == "sqlite:////a/b"
    assert "\n* HOLDFAST_INDEXER_PORT=9000 " in holdfast("config", **given).out


def test_a_setting_of_the_indexer_that_cannot_be_read_is_named(holdfast: Callable[..., Answer]) -> None:
    answer = holdfast("config", "--json", indexer_poll_seconds="hunter2")
    assert (answer.code, answer.out) == (Exit.CONFIGURATION, "")
    assert answer.error["error"] == "HOLDFAST_INDEXER_POLL_SECONDS: a number of seconds is needed"


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_no_secret_is_shown(holdfast: Callable[..., Answer], form: tuple[str, ...]) -> None:
    answer = holdfast("config", *form, **SECRETS)
    assert answer.code == Exit.OK
    assert "hunter2" not in answer.out + answer.err
    assert "rpc.example" in answer.out  # the operator can still tell which upstream it is


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_secret_in_the_wrong_place_is_not_shown(holdfast: Callable[..., Answer], form: tuple[str, ...]) -> None:
    mistyped = {
        "mail_url": "resend://re_hunter2",
        "sms_url": "twilio://AChunter2:hunter2",
        "enclave_url": "s3://hunter2:hunter2@bucket",
    }
    answer = holdfast("config", *form, **mistyped)
    assert answer.code == Exit.OK
    assert "hunter2" not in answer.out + answer.err


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("outbox:", "outbox:"),
        ("sqlite:////var/lib/holdfast/holdfast.db", "sqlite:////var/lib/holdfast/holdfast.db"),
        ("https://rpc.example", "https://rpc.example"),
        ("https://rpc.example/", "https://rpc.example"),
        ("https://rpc.example/key", "https://rpc.example/***"),
        ("https://rpc.example?key", "https://rpc.example/***"),
        ("https://rpc.example#key", "https://rpc.example/***"),
        ("https://u:p@rpc.example:8545", "https://***@rpc.example:8545"),
        ("https://u:p/w@rpc.example/v2", "https://***@rpc.example/***"),
        ("resend://re_key@", "resend:***"),
        ("resend://re_key", "resend:***"),
        ("twilio://ACsid:token", "twilio:***"),
        ("s3://id:key@bucket/folder", "s3:***"),
        ("smtp://user:p/w@mail.example", "smtp:***"),
        ("smtp:user:pw@mail.example", "smtp:***"),
        ("sqlite://user:pw@host/db", "sqlite:***"),
        ("file://user:pw@host/folder", "file:***"),
        ("outbox:key", "outbox:***"),
        ("whsec_key", "***"),
    ],
)
def test_masking_never_lets_a_malformed_address_through(url: str, shown: str) -> None:
    assert mask(url) == shown


def test_the_environment_wins_over_the_env_file(holdfast: Callable[..., Answer], tmp_path: Path) -> None:
    file = tmp_path / "settings.env"
    file.write_text(
        '# comment\nHOLDFAST_PORT=9001\nexport HOLDFAST_WORKERS="2"\nHOLDFAST_MAIL_URL=smtps://u:hunter2@m.example\n'
    )
    value = holdfast("config", "--json", "--env-file", file, port="9002").value
    assert (value["HOLDFAST_PORT"], value["HOLDFAST_WORKERS"]) == (9002, 2)
    assert value["HOLDFAST_MAIL_URL"] == "smtps:***"


def test_a_new_key_is_accepted_and_never_the_same(holdfast: Callable[..., Answer]) -> None:
    first, second = holdfast("keys", "new").out.strip(), holdfast("keys", "new", "--json").value["key"]
    assert first != second
    assert len(bytes.fromhex(first)) == len(bytes.fromhex(second)) == 32
    answer = holdfast("config", "--json", ATTESTATION_SIGNING_KEY=f"{first},{second}")
    assert answer.value["ATTESTATION_SIGNING_KEY"] == "set"


def test_an_env_file_is_read_literally(holdfast: Callable[..., Answer], tmp_path: Path) -> None:
    """As container runtimes and systemd read one: a password may contain a dollar sign."""
    file = tmp_path / "settings.env"
    file.write_text("HOLDFAST_PAGES_NAME=A${NOPE}B$C\n")
    assert holdfast("config", "--json", "--env-file", file).value["HOLDFAST_PAGES_NAME"] == "A${NOPE}B$C"


def test_a_mistyped_name_is_named_with_the_nearest_setting(holdfast: Callable[..., Answer]) -> None:
    answer = holdfast("config", trusted_proxie="hunter2")
    assert answer.code == Exit.OK
    assert answer.err == (
        "holdfast: note: HOLDFAST_TRUSTED_PROXIE: no setting has this name, so it has no effect;"
        " did you mean HOLDFAST_TRUSTED_PROXIES?\n"
    )
    assert "did you mean HOLDFAST_SMS_URL?" in holdfast("config", "--json", sms_ulr="x").error["note"]
    findings = holdfast("check", "--json", trusted_proxie="hunter2").value
    [finding] = [found for found in findings if found["subject"] == "settings"]
    assert (finding["state"], finding["found"]) == ("note", answer.err.split("note: ")[1].strip())


@pytest.mark.parametrize("command", ["config", "serve", "check"])
def test_strict_refuses_a_mistyped_name(holdfast: Callable[..., Answer], command: str) -> None:
    answer = holdfast(command, "--json", strict="on", trusted_proxie="hunter2")
    assert (answer.code, answer.out) == (Exit.CONFIGURATION, "")
    assert answer.error["error"].startswith("HOLDFAST_TRUSTED_PROXIE: no setting has this name")


def test_a_wrong_sender_is_named_by_its_own_variable(holdfast: Callable[..., Answer]) -> None:
    answer = holdfast("config", "--json", mail_from='"Holdfast <a@b.example>"')
    assert answer.code == Exit.CONFIGURATION
    assert answer.error["error"].startswith("HOLDFAST_MAIL_FROM: the sender of mail must be one address, such as")


def test_a_wrong_provider_is_named_once(holdfast: Callable[..., Answer]) -> None:
    error = holdfast("serve", "--json", mail_url="smtp://").error["error"]
    assert error == "HOLDFAST_MAIL_URL: the SMTP server's host is missing."


def test_a_folder_and_a_host_that_do_not_exist_are_named(holdfast: Callable[..., Answer], tmp_path: Path) -> None:
    findings = holdfast("check", "--json", enclave_url=f"file://{tmp_path}/nowhere").value
    assert any(f"there is no folder {tmp_path}/nowhere" in found["found"] for found in findings)
    answer = holdfast("serve", database_url="postgresql://nowhere.invalid/x", database_wait="0")
    assert answer.code == Exit.UNAVAILABLE
    assert "the host's name was not found" in answer.err


def test_production_starts_with_handles_alone(holdfast: Callable[..., Answer]) -> None:
    value = holdfast("config", "--json", public_url="https://vault.example").value
    assert (value["HOLDFAST_ENV"], value["HOLDFAST_CHANNELS"]) == ("production", "handle")


def test_a_webhook_without_a_secret_is_named(holdfast: Callable[..., Answer]) -> None:
    url = "webhook+https://sender.example/sms"
    error = holdfast("serve", "--json", sms_url=url).error["error"]
    assert error.startswith("HOLDFAST_WEBHOOK_SECRET: a webhook needs a secret")
    secret = holdfast("keys", "webhook").out.strip()
    assert secret != holdfast("keys", "webhook", "--json").value["secret"]
    findings = holdfast("check", "--json", sms_url=url, webhook_secret=secret, channels="handle").value
    found = {finding["subject"]: finding["found"] for finding in findings}
    assert (found["e-mail"], found["SMS"]) == ("off (HOLDFAST_CHANNELS)", "off (HOLDFAST_CHANNELS)")
