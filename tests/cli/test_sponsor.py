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


STATUS, DEPOSIT = ("status",), ("deposit", "--yes", "--")


@pytest.mark.parametrize(
    ("given", "arguments", "code", "why"),
    [
        ({"KEY": ""}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_KEY is not set"),
        ({}, STATUS, Exit.CONFIGURATION, "no bundler on chain 84532"),
        ({}, ("balance", "--chain", "1"), Exit.NOT_FOUND, ""),
        ({}, ("deposit", "0.1"), Exit.USAGE, "use --yes"),
        *(
            ({}, (*DEPOSIT, amount), Exit.USAGE, "")
            for amount in ("0", "-1", "x", "nan", "1e-19", "inf", "1e60", "1e999999999")
        ),
        ({}, ("withdraw", "1e60", "0x" + "11" * 20, "--yes"), Exit.USAGE, "an amount of ETH such as 0.05"),
        ({"DAY": "-1"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_DAY: "),
        ({"DID_DAY": "1e3"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_DID_DAY: "),
        ({"CONTRACTS": "registry,registry"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_CONTRACTS: "),
        ({"CONTRACTS": "usdc=x"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_CONTRACTS: "),
        ({"CONTRACTS": "0x12"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_CONTRACTS: "),
        ({"CHAINS": "base"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_CHAINS: "),
    ],
)
def test_what_is_refused_before_a_chain_is_asked(environment, given, arguments, code, why):
    settings = {f"HOLDFAST_SPONSOR_{name}": value for name, value in given.items()}
    ended, told = run(environment | settings, *arguments)
    assert ended == code and why in told


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
