"""`holdfast sponsor` without a chain: what it refuses. tests/world/test_own_sponsor.py runs its commands on one."""

import pytest
from typer.testing import CliRunner

from holdfast.cli.exits import Exit
from holdfast.cli.sponsor import app

KEY = "a7" * 32


@pytest.fixture
def run(tmp_path):
    def called(*arguments, **given):
        settings = {f"HOLDFAST_SPONSOR_{name}": value for name, value in {"KEY": KEY, **given}.items()}
        environment = {"HOLDFAST_DATA_DIR": str(tmp_path / "data"), **settings}
        done = CliRunner().invoke(app, arguments, env=environment)
        assert KEY not in done.output
        return done.exit_code, done.stderr

    return called


STATUS, DEPOSIT = ("status",), ("deposit", "--yes", "--")


@pytest.mark.parametrize(
    ("given", "arguments", "code", "why"),
    [
        ({"KEY": ""}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_KEY is not set"),
        ({}, STATUS, Exit.CONFIGURATION, "no bundler on chain 84532"),
        ({}, ("balance", "--chain", "1"), Exit.NOT_FOUND, ""),
        ({}, ("deposit", "0.1"), Exit.USAGE, "use --yes"),
        *(({}, (*DEPOSIT, amount), Exit.USAGE, "") for amount in ("0", "-1", "nan", "1e-19", "1e999999999")),
        ({}, ("withdraw", "1e60", "0x" + "11" * 20, "--yes"), Exit.USAGE, "an amount of ETH such as 0.05"),
        ({"DAY": "-1"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_DAY: "),
        ({"CONTRACTS": "registry,registry"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_CONTRACTS: "),
        ({"CONTRACTS": "usdc=x"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_CONTRACTS: "),
        ({"CONTRACTS": "0x12"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_CONTRACTS: "),
        ({"CHAINS": "base"}, STATUS, Exit.CONFIGURATION, "HOLDFAST_SPONSOR_CHAINS: "),
    ],
)
def test_what_is_refused_before_a_chain_is_asked(run, given, arguments, code, why):
    ended, told = run(*arguments, **given)
    assert ended == code and why in told


def test_a_key_file_is_private_and_holds_a_key(run, tmp_path):
    file = tmp_path / "sponsor.key"
    lacking, public = "a private key of 64 hex digits", "others can read the key file"
    for text, mode, why in ((None, 0, lacking), (KEY[:-2], 0o600, lacking), (KEY, 0o644, public)):
        if text:
            file.write_text(text + "\n")
            file.chmod(mode)
        code, told = run("status", KEY=str(file))
        assert code == Exit.CONFIGURATION and why in told and str(file) not in told
    file.chmod(0o600)
    assert "no bundler" in run("status", KEY=str(file))[1]
