"""`holdfast config` and `holdfast keys new`: the settings in effect, without secrets."""

import pytest

from holdfast.cli.config import mask
from holdfast.cli.exits import Exit
from holdfast.indexer.settings import ROWS as INDEXER_ROWS
from holdfast.service.settings.rows import ROWS

WEBHOOK = "webhook+https://sender.example/sms"
SECRETS = {
    "mail_url": "smtp+starttls://ann%40example.org:hunter2@mail.example:587?ca_file=/hunter2",
    "sms_url": "twilio://AChunter2:hunter2",
    "rpc_url": "https://rpc.example/v2/hunter2",
    "rpc_url_8453": "https://hunter2:hunter2@rpc.example/?key=hunter2",
    "bundler_url": "https://bundler.example/hunter2",
    "indexer_url": "https://indexer.example?key=hunter2",
    "enclave_url": "s3://hunter2:hunter2@bucket",
    "webhook_secret": "whsec_hunter2hunter2hunter2hunter2hunt",
    "ATTESTATION_SIGNING_KEY": "hunter2" * 8,
}


def test_every_setting_is_shown_with_what_it_is_for(holdfast, tmp_path):
    answer = holdfast("config", workers="3", indexer_port="9000")
    assert answer.code == Exit.OK
    lines = {line[2:].partition("=")[0]: line for line in answer.out.splitlines()}
    for row in (*ROWS, *INDEXER_ROWS):
        assert lines[row.name].endswith(f"# {row.about}")
    assert lines["HOLDFAST_WORKERS"].startswith("* HOLDFAST_WORKERS=3 ")
    assert lines["HOLDFAST_INDEXER_PORT"].startswith("* HOLDFAST_INDEXER_PORT=9000 ")
    assert lines["HOLDFAST_SERVER"].startswith("  HOLDFAST_SERVER=granian ")
    assert lines["MAX_REGISTRATIONS_PER_IP"] == "  MAX_REGISTRATIONS_PER_IP=3"
    assert not (tmp_path / "data").exists()  # showing settings creates no files


def test_json_is_one_object_of_the_same_names(holdfast, tmp_path):
    given = {"port": "9000", "trusted_proxies": "10.0.0.0/8,::1", "indexer_poll_seconds": "0.5"}
    value = holdfast("config", "--json", **given, public_url="https://vault.example").value
    assert {row.name for row in (*ROWS, *INDEXER_ROWS)} < set(value)
    shown = {
        "HOLDFAST_ENV": "production",
        "HOLDFAST_CHANNELS": "handle",
        "HOLDFAST_PORT": 9000,
        "HOLDFAST_TRUSTED_PROXIES": "10.0.0.0/8,::1/128",
        "HOLDFAST_BUNDLER_URL": None,
        "ATTESTATION_TTL_SECONDS": 300,
        "ATTESTATION_SIGNING_KEY": None,
        "HOLDFAST_INDEXER_DATABASE_URL": f"sqlite:///{tmp_path}/data/indexer.db",
        "HOLDFAST_INDEXER_POLL_SECONDS": 0.5,
    }
    assert {name: value[name] for name in shown} == shown
    value = holdfast("config", "--json", trusted_proxies="none", indexer_database_url="sqlite:////a/b").value
    assert (value["HOLDFAST_TRUSTED_PROXIES"], value["HOLDFAST_INDEXER_DATABASE_URL"]) == ("none", "sqlite:////a/b")


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_no_secret_is_shown(holdfast, form):
    answer = holdfast("config", *form, **SECRETS)
    assert answer.code == Exit.OK
    assert "hunter2" not in answer.out + answer.err
    assert "rpc.example" in answer.out, "the operator can still tell which upstream it is"


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
def test_masking_never_lets_a_malformed_address_through(url, shown):
    assert mask(url) == shown


def test_the_environment_wins_over_the_env_file_which_is_read_literally(holdfast, tmp_path):
    """As container runtimes and systemd read one: a password may contain a dollar sign."""
    file = tmp_path / "settings.env"
    file.write_text('# comment\nHOLDFAST_PORT=9001\nexport HOLDFAST_WORKERS="2"\nHOLDFAST_PAGES_NAME=A${NOPE}B$C\n')
    value = holdfast("config", "--json", "--env-file", file, port="9002").value
    assert [value[f"HOLDFAST_{name}"] for name in ("PORT", "WORKERS", "PAGES_NAME")] == [9002, 2, "A${NOPE}B$C"]


def test_new_keys_are_accepted_and_never_the_same(holdfast):
    first, second = holdfast("keys", "new").out.strip(), holdfast("keys", "new", "--json").value["key"]
    assert first != second
    assert len(bytes.fromhex(first)) == len(bytes.fromhex(second)) == 32
    secret = holdfast("keys", "webhook").out.strip()
    assert secret != holdfast("keys", "webhook", "--json").value["secret"]
    given = {"ATTESTATION_SIGNING_KEY": f"{first},{second}", "webhook_secret": secret, "sms_url": WEBHOOK}
    assert holdfast("config", "--json", **given).value["ATTESTATION_SIGNING_KEY"] == "set"
    findings = holdfast("check", "--json", **given, channels="handle").value
    found = {finding["subject"]: finding["found"] for finding in findings}
    assert (found["e-mail"], found["SMS"]) == ("off (HOLDFAST_CHANNELS)", "off (HOLDFAST_CHANNELS)")


def test_a_mistyped_name_is_named_with_the_nearest_setting(holdfast):
    answer = holdfast("config", trusted_proxie="hunter2")
    told = (
        "HOLDFAST_TRUSTED_PROXIE: no setting has this name, so it has no effect; did you mean HOLDFAST_TRUSTED_PROXIES?"
    )
    assert (answer.code, answer.err) == (Exit.OK, f"holdfast: note: {told}\n")
    assert holdfast("config", "--json", trusted_proxie="x").error["note"] == told
    findings = holdfast("check", "--json", trusted_proxie="hunter2").value
    assert [(it["state"], it["found"]) for it in findings if it["subject"] == "settings"] == [("note", told)]


@pytest.mark.parametrize("command", ["config", "serve", "check", "indexer"])
def test_strict_refuses_a_mistyped_name(holdfast, command):
    answer = holdfast(command, "--json", strict="on", trusted_proxie="hunter2")
    assert (answer.code, answer.out) == (Exit.CONFIGURATION, "")
    assert answer.error["error"].startswith("HOLDFAST_TRUSTED_PROXIE: no setting has this name")


UNUSABLE = [
    ("config", {"indexer_poll_seconds": "hunter2"}, "INDEXER_POLL_SECONDS", "a number of seconds is needed"),
    ("config", {"mail_from": "Holdfast <a@b.example>, c@d.example"}, "MAIL_FROM", "the sender of mail must be one address"),
    ("serve --port=65536", {}, "PORT", ""), ("serve --workers=0", {}, "WORKERS", ""),
    ("serve", {"mail_url": "smtp://"}, "MAIL_URL", "the SMTP server's host is missing."),
    ("serve", {"sms_url": WEBHOOK}, "WEBHOOK_SECRET", "a webhook needs a secret"),
    ("serve", {"database_url": "postgresql://u:hunter2@h:bad/n"}, "DATABASE_URL", "after a host comes its port"),
    ("serve", {"database_url": "sqlite:///{folder}"}, "DATABASE_URL", "is a folder"),
    ("serve", {"snapshots_url": "file://{file}"}, "SNAPSHOTS_URL", "the path of a folder is needed"),
    ("serve", {"pages_logo": "{folder}/none"}, "PAGES_LOGO", "the file cannot be read (No such file or directory)"),
    ("serve", {"indexer_app": "os:path"}, "INDEXER_APP", "os:path cannot be called"),
    ("check", {"sms_url": "twilio://AC1:hunter2"}, "SMS_URL", "write twilio://"),
    ("check", {"indexer_app": "no.such:app"}, "INDEXER_APP", ""),
    ("reserved list", {"reserved_allow_file": "/no/such"}, "RESERVED_ALLOW_FILE", "the file cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "given", "name", "told"), UNUSABLE)
def test_a_setting_that_cannot_be_used_is_named_in_one_line(holdfast, tmp_path, command, given, name, told):
    """By its variable, without its value, and before any worker starts."""
    (tmp_path / "file").touch()
    given = {key: text.format(folder=tmp_path, file=tmp_path / "file") for key, text in given.items()}
    answer = holdfast(*command.split(), **given)
    assert (answer.code, answer.out, answer.err.count("\n")) == (Exit.CONFIGURATION, "", 1)
    assert answer.err.startswith(f"holdfast: HOLDFAST_{name}: ") and told in answer.err
    assert "hunter2" not in answer.err


def test_a_host_that_does_not_exist_is_named(holdfast):
    answer = holdfast("serve", database_url="postgresql://nowhere.invalid/x", database_wait="0")
    assert answer.code == Exit.UNAVAILABLE and "the host's name was not found" in answer.err
