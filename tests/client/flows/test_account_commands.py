"""`holdfast account` on a real local chain."""

import json
import time
from contextlib import contextmanager

import pytest
from tests.support.payments import someone
from tests.support.security_keys import plugged_in
from tests.support.terminal import Terminal

import holdfast
from holdfast.chain.account_calls import NOBODY, Permission
from holdfast.cli.account_options import signer_named
from holdfast.cli.client_vault import key_provider
from holdfast.cli.exits import Exit
from holdfast.client.account.spending import SPEND_COMMAND
from holdfast.client.blocking.client import Client
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.client_errors import NetworkError

NOWHERE = "http://localhost:9"
CALLING = {
    "key_id": b"k" * 32, "token": NOBODY, "allowance": 5, "period": 0, "start": 0,
    "function": b"\xa9\x05\x9c\xbb",
}  # fmt: skip
ADDRESS = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"


def at_localhost(chain):
    return chain.base_url.replace("127.0.0.1", "localhost")


def device(chain, folder, name):
    terminal = Terminal(folder / name, at_localhost(chain), key="passkey")
    terminal.json("vault", "create", "--software")
    return terminal


@pytest.fixture
def first(chain, tmp_path):
    return device(chain, tmp_path, "first")


@pytest.fixture
def second(chain, tmp_path):
    return device(chain, tmp_path, "second")


def test_a_lost_device_is_revoked_and_the_chains_that_are_left_are_named(chain, first, second):
    mine, theirs = first.json("whoami"), second.json("whoami")
    account = mine["smartAccount"]
    assert mine["ownership"] == "primary"
    done = first.json("account", "owners", "add", theirs["key"], "--yes")
    here = at_localhost(chain)
    assert done["chains"] == [{"service": here, "chainId": 84532, "applied": 1, "error": None}]
    chain.give(account, 1_000)
    there = ("--account", account)
    assert second.json("whoami", *there)["ownership"] == "owner"
    while f"your key also owns {account}" not in second.run("whoami").stdout:
        time.sleep(0.1)  # until the indexer has followed the chain
    assert "your key is one of the account's owners" in second.run("whoami", *there).stdout
    payee = someone()
    pay = ("--token", chain.usdc, "--yes", *there)
    token = second.json("vault", "delegate", mine["key"], "/accounts/pay", "--at-most", "599")["token"]
    second.run("pay", payee, "600", *pay, "--ucan", token, code=Exit.FAILED)
    paid = second.json("pay", payee, "599", *pay, "--ucan", token)
    assert chain.receipt(paid["transactionHash"]).succeeded and paid["txHash"] == paid["userOpHash"]
    shown = second.run("pay", payee, "1", *pay).stdout.splitlines()
    assert [line.split(" ")[0] for line in shown[:2]] == ["paid:", "transaction:"]
    assert chain.usdc_of(payee) == 600
    remove = ("account", "owners", "remove", mine["key"], "--yes", "--json", *there, "--also", NOWHERE)
    left = second.run(*remove, code=Exit.FAILED)
    rows = [(row["service"], row["applied"], row["error"] is None) for row in json.loads(left.stdout)["chains"]]
    assert rows == [(here, 1, True), (NOWHERE, 0, False)]
    assert f"not there yet: {NOWHERE}" in left.stderr
    listed = second.json("account", "owners", "list", *there)
    signer = "0x" + signer_named(theirs["key"]).hex()
    assert listed["owners"] == [{"signer": signer, "until": 0, "primary": True}]
    assert "your key does not own the account" in first.run("whoami").stdout
    first.run("pay", payee, "1", "--token", chain.usdc, "--yes", code=Exit.FAILED)


def test_a_passkey_that_is_an_owner_gives_a_new_vault_the_account(first, second, monkeypatch):
    account, new, passkey = (
        first.json("whoami")["smartAccount"],
        second.json("whoami")["key"],
        plugged_in(monkeypatch, NOWHERE),
    )
    add = ("account", "owners", "add", new, "--account", account, "--owner-passkey", "--yes")
    first.json("account", "owners", "add", ADDRESS, "--yes")
    assert "no passkey on this security key is now an owner" in second.run(*add, code=Exit.FAILED).stderr
    of_passkey = ("account", "owners", "add", f"0x{passkey.hex()}", "--yes")
    first.json(*of_passkey, "--until", "1")
    assert "no passkey on this security key is now an owner" in second.run(*add, code=Exit.FAILED).stderr
    first.json("account", "owners", "add", new, "--until", "1", "--yes")
    assert second.json("whoami", "--account", account)["ownership"] == "none"
    first.json(*of_passkey)
    (row,) = second.json(*add)["chains"]
    assert (row["applied"], second.json("whoami", "--account", account)["ownership"]) == (1, "owner")


def test_what_a_chain_lacks_is_brought_later(chain, first, tmp_path, monkeypatch):
    def silent(_):
        raise NetworkError("no answer")

    add = ("account", "owners", "add", ADDRESS, "--until", "4000000000", "--yes", "--json")
    with monkeypatch.context() as patch:
        patch.setattr(Client, "chains", silent)
        first.run(*add, code=Exit.UNAVAILABLE)
    assert ADDRESS not in first.run("account", "owners", "list").stdout, "nothing is done before the chains are known"
    other = chain.another(tmp_path / "other", chain.bundler_url)
    with monkeypatch.context() as patch:
        patch.setattr(Client, "account_history", silent)
        told = first.run(*add, "--also", other.base_url, code=Exit.FAILED)
    rows = [(row["applied"], row["error"]) for row in json.loads(told.stdout)["chains"]]
    assert rows == [(1, None), (0, "Network: no answer")]
    assert f"{other.base_url}; `holdfast account bring` brings what is left" in told.stderr
    assert f"{ADDRESS} until 4000000000\n1 must sign\n" in first.run("account", "owners", "list").stdout
    (row,) = first.json("account", "bring", "--also", other.base_url)["chains"]
    assert (row["applied"], row["error"]) == (0, None)  # the other service has the same chain
    assert "the service has one chain" in first.run("account", "bring", code=Exit.USAGE).stderr


def test_guardians_recover_and_an_owner_cancels(first, second):
    account, guardian = first.json("whoami")["smartAccount"], second.json("whoami")["key"]
    assert "no recovery is possible" in first.run("account", "guardians", "list").stdout
    words = ("account", "guardians", "add", guardian, "--quorum", "1", "--delay", "3600", "--yes")
    first.json(*words)
    terms = first.json("account", "guardians", "list")
    assert (len(terms["guardians"]), terms["quorum"], terms["delaySeconds"]) == (1, 1, 3600)
    there = ("--account", account)
    second.run("account", "recover", "list", *there, code=Exit.NOT_FOUND)
    started = second.json("account", "recover", "start", guardian, "--yes", *there)
    assert started["readyAt"] > time.time()
    assert first.json("account", "recover", "list")["supporters"] == 1
    assert "TooEarly" in second.run("account", "recover", "finish", *there, code=Exit.FAILED).stderr
    first.run("account", "recover", "cancel")
    for word in ("list", "cancel", "finish"):
        assert "no recovery" in first.run("account", "recover", word, code=Exit.NOT_FOUND).stderr
    first.json("account", "guardians", "remove", guardian, "--quorum", "0", "--yes")
    assert first.json("account", "guardians", "list")["guardians"] == []


def test_the_service_is_a_guardian_alone_only_with_consent(first, second):
    words = ("account", "guardians", "add", "service", "--quorum", "1", "--delay", "3600", "--yes")
    assert "the person must agree" in first.run(*words, code=Exit.FAILED).stderr
    first.json(*words, "--service-alone")
    assert len(first.json("account", "guardians", "list")["guardians"]) == 1
    account, key = first.json("whoami")["smartAccount"], second.json("whoami")["key"]
    there = ("--account", account)
    refused = second.run("account", "recover", "ask", key, "--to", "ann@example.com", *there, code=Exit.FAILED)
    assert "recovery_not_possible" in refused.stderr
    wrong = second.run("account", "recover", "check", "a" * 32, "123456", *there, code=Exit.FAILED)
    assert "No code was sent" in wrong.stderr
    missing = second.run("account", "recover", "sign", key, "--by-service", *there, code=Exit.FAILED)
    assert "recovery_not_possible" in missing.stderr, "the account has no DID"
    given = "0x" + "11" * 64 + ":0x" + "22" * 64
    started = ("account", "recover", "start", key, "--with", given, "--given-only", "--yes", *there)
    assert "InvalidSignature" in second.run(*started, code=Exit.FAILED).stderr
    first.json("account", "guardians", "remove", "service", "--quorum", "0", "--yes")
    assert first.json("account", "guardians", "list")["guardians"] == []


@contextmanager
def opened(terminal):
    with VaultStore(directory=terminal.folder) as store, holdfast.Vault(store) as vault:
        assert vault.unlock(key_provider("passkey", terminal.environment["HOLDFAST_SERVICE_URL"], store)).success
        yield vault


def delegated(terminal):
    """Return CID and audience of the delegations to spend, and whether each is revoked."""
    with opened(terminal) as vault:
        rows = vault.exec("resource:delegations action:list").result or []
    rows = [row for row in rows if row["command"] == SPEND_COMMAND]
    return [(row["cid"], row["audience"], row["revoked_at"] is not None) for row in rows]


def test_permissions(chain, first, second):
    app = second.json("whoami")["key"]
    chain.give(first.json("whoami")["smartAccount"], 10)
    made = first.json("account", "permissions", "add", app, chain.usdc, "500", "--period", "86400", "--yes")
    (row,) = first.json("account", "permissions", "list")["permissions"]
    assert (row["id"], row["allowance"], row["left"], row["token"]) == (made["id"], "500", "500", chain.usdc)
    assert made["token"] and delegated(first) == [(made["cid"], made["to"], False)]
    with opened(first) as vault, holdfast.Client(at_localhost(chain), vault=vault) as client:
        called = Permission(**CALLING, target=chain.usdc)
        client.grant_account_permission(called)
    told = first.run("account", "permissions", "list").stdout
    first.run("account", "permissions", "remove", f"0x{called.id.hex()}")
    assert f"only to {chain.usdc}, by calls of its function 0xa9059cbb too" in told
    assert first.run("account", "permissions", "remove", made["id"]).stdout == f"revoked {made['id']}\n"
    assert delegated(first) == [(made["cid"], made["to"], True)]
    told = first.run("account", "permissions", "list").stdout
    assert told == "on Base Sepolia (84532), test money without value\nno permissions\n"
    first.run("account", "permissions", "remove", made["id"], code=Exit.NOT_FOUND)


def test_refuses_what_names_no_signer_and_asks_before_it_changes_anything(first):
    add = ("account", "owners", "add")
    for signer in ("ada", "did:new:0x12", "did:key:z6Mk", "0x12", "did:key:"):
        first.run(*add, signer, "--yes", code=Exit.USAGE)
    assert "use --yes" in first.run(*add, ADDRESS, typed="y\n", code=Exit.USAGE).stderr


def test_two_owners_are_required_above_a_sum(chain, first, second, tmp_path, monkeypatch):
    """The second is another vault, or a passkey on a security key."""
    theirs, payee = second.json("whoami")["key"], someone()
    passkey = "0x" + plugged_in(monkeypatch, at_localhost(chain)).hex()
    chain.give(first.json("whoami")["smartAccount"], 1_000)
    for owner in (theirs, passkey):
        first.json("account", "owners", "add", owner, "--yes")
    first.json("account", "owners", "require", "2", "--alone", f"{chain.usdc}=100", "--yes")
    pay = ("pay", payee, "--token", chain.usdc, "--yes")
    first.json(*pay, "100")
    missing = first.run(*pay, "200", code=Exit.FAILED).stderr
    assert f"as the second key 0x{signer_named(theirs).hex()}" in missing
    assert "--second-vault" in missing
    also = ("--second-vault", str(tmp_path / "second"))
    by_passkey = ("--second-passkey", passkey)
    assert "name one second key" in first.run(*pay, "200", *also, *by_passkey, code=Exit.USAGE).stderr
    first.json(*pay, "200", *also)
    assert chain.usdc_of(payee) == 300
    first.json("account", "owners", "require", "1", "--yes", *by_passkey)
    assert first.json("account", "owners", "list")["threshold"] == 1
    first.json("account", "owners", "require", "2", "--alone", f"{chain.usdc}=50", "--yes")  # ends the earlier sum
    assert [row["allowance"] for row in first.json("account", "permissions", "list")["permissions"]] == ["50"]
