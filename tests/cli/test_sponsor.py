"""`holdfast sponsor` without a chain: what it refuses. tests/world/test_own_sponsor.py runs its commands on one."""

import pytest
from typer.testing import CliRunner

from holdfast.cli.exits import Exit
from holdfast.cli.sponsor import app

KEY = "a7" * 32


def run(environment, *arguments):
    done = CliRunner().invoke(app, arguments, env=environment)
    assert KEY not in done.output
    return done.exit_code, done.stderr


@pytest.fixture
def environment(tmp_path):
    return {"HOLDFAST_DATA_DIR": str(tmp_path / "data"), "HOLDFAST_SPONSOR_KEY": KEY}


def test_a_key_is_needed(tmp_path):
    code, told = run({"HOLDFAST_DATA_DIR": str(tmp_path), "HOLDFAST_SPONSOR_KEY": ""}, "status")
    assert code == Exit.CONFIGURATION and "HOLDFAST_SPONSOR_KEY is not set" in told


def test_a_bundler_is_needed(environment):
    code, told = run(environment, "status")
    assert code == Exit.CONFIGURATION and "no bundler on chain 84532" in told


def test_a_chain_must_be_one_of_the_sponsors(environment):
    assert run(environment, "balance", "--chain", "1")[0] == Exit.NOT_FOUND


@pytest.mark.parametrize("amount", ["0", "-1", "x", "nan", "1e-19", "inf"])
def test_amounts_are_positive_numbers_of_wei(environment, amount):
    assert run(environment, "deposit", "--yes", "--", amount)[0] == Exit.USAGE


def test_nothing_is_sent_unasked(environment):
    code, told = run(environment, "deposit", "0.1")
    assert code == Exit.USAGE and "use --yes" in told


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        (KEY, 0o644, "others can read the key file"),
        (KEY[:-2], 0o600, "a private key of 64 hex digits"),
        (None, 0, "a private key of 64 hex digits"),
    ],
)
def test_a_key_file_is_private_and_holds_a_key(environment, tmp_path, text, mode, why):
    file = tmp_path / "sponsor.key"
    if text is not None:
        file.write_text(text + "\n")
        file.chmod(mode)
    code, told = run(environment | {"HOLDFAST_SPONSOR_KEY": str(file)}, "status")
    assert code == Exit.CONFIGURATION and why in told and str(file) not in told
    if text == KEY:
        file.chmod(0o600)
        assert "no bundler" in run(environment | {"HOLDFAST_SPONSOR_KEY": str(file)}, "status")[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOLDFAST_SPONSOR_DAY", "-1"),
        ("HOLDFAST_SPONSOR_DID_DAY", "1e3"),
        ("HOLDFAST_SPONSOR_CONTRACTS", "registry,registry"),
        ("HOLDFAST_SPONSOR_CONTRACTS", "usdc=x"),
        ("HOLDFAST_SPONSOR_CONTRACTS", "0x12"),
        ("HOLDFAST_SPONSOR_CHAINS", "base"),
    ],
)
def test_malformed_settings_are_named(environment, name, value):
    code, told = run(environment | {name: value}, "status")
    assert code == Exit.CONFIGURATION and told.startswith(f"holdfast: {name}: ")
