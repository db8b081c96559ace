"""`holdfast contracts` on a real chain: its output and its exit codes."""

import json
import re
import secrets
from pathlib import Path

import pytest
from eth_keys.datatypes import PrivateKey
from typer.testing import CliRunner

from holdfast.chain.contracts import NAMES, PRODUCTION, address, load
from holdfast.chain.contracts.public_keys import PUBLIC_ADDRESSES
from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.cli.contracts import app
from holdfast.cli.exits import Exit
from holdfast.world.processes import free_port

PUBLIC_KEY_0 = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"


def _run(*words):
    return CliRunner().invoke(app, list(words))


def _json(result, exit_code):
    assert result.exit_code == exit_code, result.output
    return json.loads(result.stdout)


def _key_file(folder, text, mode=0o600):
    path = folder / "key"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def _place_entry_points(chain, *entry_points):
    for entry_point in entry_points:
        chain.call("anvil_setCode", entry_point.address, "0x00")


@pytest.fixture
def secret():
    return secrets.token_hex(32)


@pytest.fixture
def key_file(tmp_path, secret):
    return _key_file(tmp_path, f"0x{secret}\n")


def _fund(chain, secret):
    holder = PrivateKey(bytes.fromhex(secret)).public_key.to_checksum_address()
    chain.call("anvil_setBalance", holder, hex(10**18))
    return holder


def test_deploys_then_verifies(chain, key_file, secret):
    holder = _fund(chain, secret)
    assert _run("verify", "--rpc", chain.url).exit_code == Exit.FAILED
    done = _run("deploy", "--rpc", chain.url, "--key-file", key_file, "--yes")
    assert done.exit_code == Exit.OK, done.output
    plan, *rest = done.stdout.split("deployed ")
    assert f"On Base Sepolia (84532), test money without value, paid by {holder} (1 ETH)" in plan
    assert all(f"deploy   {name}" in plan and address(name) in plan for name in PRODUCTION)
    what_the_page_says_it_takes(plan)
    assert [line.split()[0] for line in rest] == list(PRODUCTION)
    assert done.stdout.endswith("All contracts are deployed, with exactly our code.\n")
    assert secret not in done.output
    checked = _run("verify", "--rpc", chain.url)
    assert checked.exit_code == Exit.FAILED, "no entry point, no operation"
    assert checked.stdout.splitlines()[-2:] == [
        "Exactly our code.",
        "Accounts on this chain cannot use EntryPoint 0.7.0, 0.8.0, 0.9.0.",
    ]
    _place_entry_points(chain, *ENTRY_POINTS)
    checked = _run("verify", "--rpc", chain.url)
    assert (checked.exit_code, checked.stdout.splitlines()[-1]) == (Exit.OK, "Exactly our code.")


def what_the_page_says_it_takes(plan):
    """The page states the gas of the whole deployment, and what it costs."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "base.md").read_text("utf-8")
    gas = int(re.search(r"in all ([\d,]+) gas: 0\.0", plan)[1].replace(",", ""))
    assert f"take {gas:,} gas, once for a chain: {gas * 10**7 / 10**18:.5f} ETH at 0.01 gwei" in page, gas


@pytest.mark.parametrize("lacking", ENTRY_POINTS, ids=lambda point: point.version)
def test_verify_fails_for_one_missing_entry_point(chain, lacking):
    for name in PRODUCTION:
        chain.call("anvil_setCode", address(name), "0x" + load(name).runtime.hex())
    _place_entry_points(chain, *(point for point in ENTRY_POINTS if point is not lacking))
    found = _json(_run("verify", "--rpc", chain.url, "--json"), Exit.FAILED)
    assert found["exact"] is True
    assert [version for version, there in found["entryPoints"].items() if not there] == [lacking.version]


def test_speaks_json(chain, key_file, secret):
    _fund(chain, secret)
    deploy = ("deploy", "--rpc", chain.url, "--key-file", key_file, "--json")
    planned = _json(_run(*deploy), Exit.OK)
    assert (planned["done"], planned["transactions"], planned["present"]) == (False, {}, [])
    assert list(planned["missing"]) == list(PRODUCTION)
    assert int(planned["maxCostWei"]) > int(planned["costWei"]) > 0
    done = _json(_run(*deploy, "--yes"), Exit.OK)
    assert (done["done"], list(done["transactions"])) == (True, list(PRODUCTION))
    again = _json(_run(*deploy, "--yes"), Exit.OK)
    assert (again["done"], again["missing"], again["present"]) == (True, {}, list(PRODUCTION))
    found = _json(_run("verify", "--rpc", chain.url, "--json"), Exit.FAILED)
    assert found["exact"] is True
    assert found["contracts"]["AppFactory"] == {"address": address("AppFactory"), "status": "exact"}
    assert found["entryPoints"] == {"0.7.0": False, "0.8.0": False, "0.9.0": False}


def test_verify_names_missing_and_other_code(chain):
    chain.call("anvil_setCode", address("SessionSBT"), "0x00")
    found = _json(_run("verify", "--rpc", chain.url, "--json"), Exit.FAILED)
    assert found["exact"] is False
    statuses = {name: row["status"] for name, row in found["contracts"].items()}
    assert statuses == dict.fromkeys(PRODUCTION, "missing") | {"SessionSBT": "other"}
    assert "other    SessionSBT" in _run("verify", "--rpc", chain.url).stdout


def test_development_contracts_and_public_keys_on_a_development_chain(chain, tmp_path):
    key_file = _key_file(tmp_path, PUBLIC_KEY_0)
    done = _json(_run("deploy", "--rpc", chain.url, "--key-file", key_file, "--dev", "--yes", "--json"), Exit.OK)
    assert list(done["transactions"]) == list(NAMES)
    _place_entry_points(chain, *ENTRY_POINTS)
    assert list(_json(_run("verify", "--rpc", chain.url, "--dev", "--json"), Exit.OK)["contracts"]) == list(NAMES)


@pytest.mark.parametrize(
    ("words", "key", "said"),
    [
        (("--dev",), None, "DevUSDC and VerifyingPaymaster"),
        ((), PUBLIC_KEY_0, "development keys are refused"),
        (("--chain-id", "84532"), None, "the endpoint serves chain 8453, not 84532"),
    ],
)
def test_nothing_is_sent_to_a_public_chain_or_another_than_named(foreign_chain, tmp_path, secret, words, key, said):
    holder = _fund(foreign_chain, secret)
    key_file = _key_file(tmp_path, key or f"0x{secret}")
    refused = _run("deploy", "--rpc", foreign_chain.url, "--key-file", key_file, "--yes", *words)
    assert (refused.exit_code, refused.stdout) == (Exit.CONFIGURATION, "")
    assert said in refused.stderr
    assert foreign_chain.call("eth_getTransactionCount", holder, "latest") == "0x0"


def test_nothing_is_sent_without_a_yes(chain, key_file, secret, monkeypatch):
    holder = _fund(chain, secret)
    deploy = ["deploy", "--rpc", chain.url, "--key-file", key_file]
    unasked = _run(*deploy)
    assert unasked.exit_code == Exit.USAGE
    assert "at most" in unasked.stdout
    monkeypatch.setattr("holdfast.cli.output.is_terminal", lambda: True)
    declined = CliRunner().invoke(app, deploy, input="n\n")
    assert (declined.exit_code, "Nothing was sent." in declined.stdout) == (Exit.OK, True)
    assert chain.call("eth_getTransactionCount", holder, "latest") == "0x0"
    assert "Nothing was sent." not in CliRunner().invoke(app, deploy, input="y\n").stdout
    assert int(chain.call("eth_getTransactionCount", holder, "latest"), 16) == len(PRODUCTION)


def test_public_addresses_are_those_that_anvil_funds(chain):
    assert {each.lower() for each in PUBLIC_ADDRESSES} == {each.lower() for each in chain.accounts}


def test_an_unreachable_chain(key_file):
    url = f"http://user:word@127.0.0.1:{free_port()}/key-of-mine"
    for words in (["verify"], ["deploy", "--key-file", key_file, "--yes"]):
        done = _run(*words, "--rpc", url)
        assert done.exit_code == Exit.UNAVAILABLE
        assert "key-of-mine" not in done.output
        assert "word" not in done.output


NO_KEYS = ("", "0x12", "zz" * 32, "00" * 32, "ff" * 32, "ab" * 33, "\N{LATIN SMALL LETTER SHARP S}" * 64)


@pytest.mark.parametrize(
    ("name", "text", "mode", "said"),
    [
        *(("key", text, 0o600, "does not hold a private key") for text in NO_KEYS),
        ("key", "ab" * 32, 0o640, "chmod 600"),
        ("none", "ab" * 32, 0o600, "No such file"),
    ],
)
def test_refuses_a_key_file_that_cannot_be_used_without_repeating_it(tmp_path, name, text, mode, said):
    _key_file(tmp_path, text, mode)
    deploy = ("deploy", "--rpc", "http://127.0.0.1:1", "--key-file", str(tmp_path / name))
    done = _run(*deploy)
    assert done.exit_code == Exit.CONFIGURATION
    assert said in done.stderr
    assert not text or text not in done.output
    for chain_id in ("0", "-1", "base", "1.5"):
        assert _run(*deploy, "--chain-id", chain_id).exit_code == Exit.USAGE


@pytest.mark.parametrize("module", ["httpx2", "eth_keys"])
def test_names_the_extra_that_it_needs(monkeypatch, module):
    monkeypatch.setattr("holdfast.cli.contracts.find_spec", lambda name: None if name == module else object())
    done = _run("verify", "--rpc", "http://127.0.0.1:1")
    assert done.exit_code == Exit.CONFIGURATION
    assert f"needs {module}: pip install 'eth-abi" in done.stderr
