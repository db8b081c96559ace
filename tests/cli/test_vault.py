"""The commands of the vault's owner, run in this process and as the installed script, with a running service."""

import json
import os
import re
import secrets
import shutil
import stat
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from unittest.mock import MagicMock

import msgspec
import pytest
from tests.support import forked
from tests.support.direct_sql import in_store
from tests.support.running_service import PREDICTED, json_server
from tests.support.serving import HOLDFAST, plainly
from tests.support.silent_host import hanging_host
from tests.support.soak import cases
from tests.support.terminal import PASSWORD, Terminal
from tests.support.vaults import PASSKEY
from typer.testing import CliRunner

from holdfast.chain.contracts import DEFAULT_CONTRACT_SET
from holdfast.chain.errors import NoReceipt
from holdfast.cli import client_vault, pay
from holdfast.cli.client_vault import plain_errors
from holdfast.cli.exits import Exit
from holdfast.cli.payments import AGAIN, UNCONFIRMED
from holdfast.cli.root import application
from holdfast.cli.sessions import session_file
from holdfast.client import types
from holdfast.client.blocking.vault import Vault
from holdfast.client.flows.failures import OperationFailed
from holdfast.client.flows.gas import NoEndpoint
from holdfast.client.http.refusals import InvitationInvalid, InvitationRequired, RateLimited, RequestRefused
from holdfast.client.snapshots.payment_notes import PaymentNote
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types.service import ContractSet
from holdfast.client.ucan import UcanVerifier
from holdfast.client.vault.keys import SecretKey
from holdfast.wire import waiting
from holdfast.wire.client_errors import NetworkError, StorageError
from holdfast.wire.keccak import checksum_address

TO = "did:key:zDnaeauPWVsCwreeRxYutKVufGz8e1VMn4x9p6J9PswiH8KPG"
MISTYPED = "0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266"  # its checksum is that of f39F…


@pytest.fixture(scope="module")
def made_vault(tmp_path_factory):
    made = Terminal(tmp_path_factory.mktemp("made") / "vault", key="passkey")
    made.json("vault", "create", "--software")
    return made.folder


@pytest.fixture
def terminal(made_vault, tmp_path):
    return Terminal(shutil.copytree(made_vault, tmp_path / "vault"), key="passkey")


@pytest.fixture
def by_password(tmp_path):
    (tmp_path / "credential").write_text(PASSKEY.credential)
    made = Terminal(tmp_path / "vault")
    made.json("vault", "create", "--credential", str(tmp_path / "credential"))
    return made


def at_localhost(url):
    """Return the URL with the name for which the software passkey was created."""
    return url.replace("127.0.0.1", "localhost")


def test_the_account_that_is_shown_is_the_smart_account_of_this_releases_factory(terminal, service, tmp_path):
    """If the service predicts another account, `create` fails and says so; for another factory no vault is made."""
    shown = terminal.json("vault", "accounts")[0]["address"]
    other = Terminal(tmp_path / "other", at_localhost(service.base_url), key="passkey")
    foreign = "0x" + "fa" * 20
    with json_server(lambda *_: (200, {**DEFAULT_CONTRACT_SET, "appFactory": foreign})) as url:
        refused = other.run("vault", "create", "--software", "--service", at_localhost(url), code=Exit.FAILED)
    assert f"account factory {foreign} is not the one of this release" in refused.stderr
    assert "no vault here yet" in other.run("vault", "accounts", code=Exit.NOT_FOUND).stderr
    made = other.run("vault", "create", "--software", code=Exit.FAILED)
    assert f"the service predicts the account {PREDICTED}" in made.stderr.lower()
    account = other.json("vault", "accounts")[0]["address"]
    assert f"with the account {account}," in made.stderr
    assert account != shown  # of another key


def test_a_server_makes_a_vault_with_a_password_alone(tmp_path):
    """No credential, security key or person is needed. The passkey's file opens a vault only with `--key passkey`."""
    agent = Terminal(tmp_path / "agent")
    did = agent.json("vault", "create", "--password")["did"]
    assert stat.S_IMODE((tmp_path / "agent" / "passkeys.json").stat().st_mode) == 0o600
    assert agent.json("vault", "accounts")[0]["is_default"] is True
    del agent.environment["HOLDFAST_VAULT_PASSWORD"]
    assert "cannot be unlocked" in agent.run("vault", "accounts", "--key", "passkey", code=Exit.FAILED).stderr
    other = Terminal(tmp_path / "other")
    del other.environment["HOLDFAST_VAULT_PASSWORD"]
    assert other.json("vault", "create", "--software", "--key", "passkey")["did"] != did
    assert other.json("vault", "accounts", "--key", "passkey")[0]["is_default"] is True


def test_a_vault_is_made_and_looked_at_and_passwords_are_asked_without_echo(by_password):
    status = by_password.json("vault", "status")
    assert status["did"].startswith("did:new:0x")
    assert status["locked"] is True
    assert [c["credential_id"] for c in by_password.json("vault", "credentials")] == [PASSKEY.credential_id]
    assert status["did"] in by_password.run("vault", "status").stdout
    assert "already" in by_password.run("vault", "create", code=Exit.FAILED).stderr
    del by_password.environment["HOLDFAST_VAULT_PASSWORD"]
    assert PASSWORD not in by_password.run("vault", "accounts", typed=PASSWORD + "\n").output
    wrong = by_password.run("vault", "accounts", typed="wrong\n", code=Exit.FAILED)
    assert "cannot be unlocked (wrong_key): try again, or name another key" in wrong.stderr
    assert "wrong\n" not in wrong.output
    assert "set HOLDFAST_VAULT_PASSWORD" in by_password.run("vault", "accounts", code=Exit.USAGE).stderr


@pytest.mark.parametrize("typed", [PASSWORD, ""])
def test_without_a_terminal_the_output_is_json_alone(by_password, typed):
    """A new session has no terminal, as under cron."""
    environment = environment_of(by_password.folder)
    del environment["HOLDFAST_VAULT_PASSWORD"]
    words = ["vault", "accounts", "--json"]
    code, told, error = forked.run(words, environment, typed.encode(), 60, new_session=True)
    assert (code, bool(told), bool(error)) == ((Exit.OK, True, False) if typed else (Exit.USAGE, False, True))
    assert json.loads(told or error)


def test_errors_are_one_line_and_a_code(tmp_path):
    terminal = Terminal(tmp_path)
    assert json.loads(terminal.run("vault", "status", "--json", code=Exit.NOT_FOUND).stderr)["exit"] == Exit.NOT_FOUND
    for command in ("accounts", "unlock", "lock"):  # a mistyped folder's vault is not told to be locked
        assert "holdfast vault create" in terminal.run("vault", command, code=Exit.NOT_FOUND).stderr
    assert list(tmp_path.iterdir()) == []
    silent = terminal.run("balance", "0x" + "11" * 20, code=Exit.UNAVAILABLE).stderr
    assert silent == "holdfast: Network: localhost:9: nothing listens at this address\n"
    terminal.run("vault", "create", "--credential", str(tmp_path / "none"), code=Exit.USAGE)


@pytest.mark.parametrize(
    "words", [("balance", "0x" + "22" * 20), ("pay", "0x" + "22" * 20, "5", "--yes"), ("payments",)]
)
def test_whom_a_person_waits_for_is_told_and_they_wait_once(terminal, monkeypatch, words):
    monkeypatch.setattr(waiting, "SLOW_S", 0.0)
    limit = property(lambda _: 0.2, lambda *_: None)
    monkeypatch.setattr("holdfast.client.http.transport.HttpTransport.whole_s", limit, raising=False)
    with hanging_host() as port:
        told = terminal.run(*words, "--service", f"http://localhost:{port}", code=Exit.UNAVAILABLE).stderr
    waited = f"localhost:{port} has not answered yet: waiting for it\n"
    assert told == f"{waited}holdfast: Network: localhost:{port}: the whole answer did not arrive in time\n"


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="needs setpriv to give rights up")
def test_the_status_of_a_vault_on_a_read_only_disk_is_read(terminal):
    def told():
        words, more = ("vault", "status", "--json"), {"env": environment_of(terminal.folder), "text": True}
        ended = subprocess.run([*plainly(), HOLDFAST, *words], **more, capture_output=True, check=False)
        return json.loads(ended.stdout or ended.stderr)

    terminal.json("vault", "unlock")
    let_it_end(terminal)
    shown, files = terminal.json("vault", "status"), list(terminal.folder.iterdir())
    for path in (*files, terminal.folder):
        path.chmod(0o500)
    assert told() == shown
    assert list(terminal.folder.iterdir()) == files
    terminal.folder.chmod(0o700)
    terminal.folder.joinpath("holdfast-vault.db-wal").write_text("changes")
    terminal.folder.chmod(0o500)
    assert "first has to store" in told()["error"]


def test_unlock_and_lock(terminal):
    terminal.json("vault", "unlock", "--minutes", "5")
    file = session_file(terminal.folder)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert terminal.folder not in file.parents  # no backup of the vault's folder contains the secret
    terminal.environment["HOLDFAST_VAULT_KEY"] = "password"  # with which the vault does not open
    assert terminal.json("vault", "status")["locked"] is False
    terminal.json("vault", "accounts")
    copied, stored = file.read_text(), whole_store(terminal)
    assert opens_any(stored, copied)
    terminal.json("vault", "lock")
    assert not file.exists()
    terminal.run("vault", "accounts", code=Exit.FAILED)
    file.write_text(copied)  # a stolen copy of the session file is useless once the vault has been locked
    terminal.run("vault", "accounts", code=Exit.FAILED)
    assert not opens_any(whole_store(terminal), copied)


def test_an_unlock_period_whose_wrap_cannot_be_stored_is_not_told_to_be_open(terminal, monkeypatch):
    terminal.json("vault", "unlock")
    with monkeypatch.context() as patch:
        patch.setattr(Vault, "add_key", MagicMock(side_effect=StorageError("the disk is full")))
        terminal.run("vault", "unlock", code=Exit.FAILED)
    assert terminal.json("vault", "status")["locked"] is True


def whole_store(terminal):
    """Return every revision and block in the store, so that a test can try to open each with a secret."""
    with VaultStore(directory=terminal.folder) as store:
        revisions = [store.load(did, number).sealed for did in store.dids() for number in store.revisions(did)]
        return revisions + [row[0] for row in in_store(store, "SELECT data FROM blocks")]


def opens_any(sealed, noted):
    """Return whether the secret in a session file opens one of the sealed vaults."""
    key = SecretKey(bytes.fromhex(json.loads(noted)["secret"]), "session")

    def opens(one):
        with Vault() as vault:
            return vault.unlock(key, one).success

    return any(opens(one) for one in sealed)


def let_it_end(terminal):
    """Replace a session file with one whose unlock period is over, and return the original text."""
    file = session_file(terminal.folder)
    file.write_text(json.dumps({**json.loads(file.read_text()), "begun": 1, "until": 2}))
    return file.read_text()


FIRST_COMMANDS = (("status",), ("lock",), ("accounts",), ("unlock",), ("import", "none"))


@pytest.mark.parametrize("words", cases({" ".join(one): one for one in FIRST_COMMANDS}, "status", "unlock"))
def test_the_first_command_after_the_end_takes_wrap_and_file_away(terminal, words):
    terminal.json("vault", "unlock")
    terminal.json("vault", "delegate", TO, "/accounts/list")
    over = let_it_end(terminal)
    assert opens_any(whole_store(terminal), over)
    CliRunner().invoke(application, ["vault", *words], env=terminal.environment)
    left = session_file(terminal.folder)
    assert not left.exists() or left.read_text() != over
    assert terminal.json("vault", "status")["locked"] is (words != ("unlock",))
    assert not opens_any(whole_store(terminal), over)


def test_a_session_whose_file_the_system_took_away_leaves_no_wrap(terminal):
    terminal.json("vault", "unlock")
    copied = session_file(terminal.folder).read_text()
    session_file(terminal.folder).unlink()  # as happens at logout
    terminal.json("vault", "accounts")
    assert not opens_any(whole_store(terminal), copied)


def test_a_session_file_that_is_none_or_of_a_later_time_is_no_session(terminal):
    file = session_file(terminal.folder)
    terminal.json("vault", "unlock")
    good = file.read_text()
    for bad in ("", "[]", "{}", good.replace(json.loads(good)["secret"], "00"), good.replace('"did"', '"dad"')):
        file.write_text(bad)
        assert terminal.json("vault", "status")["locked"] is True
    file.unlink()
    (file.parent / "elsewhere").write_text(good)
    file.symlink_to(file.parent / "elsewhere")
    assert terminal.json("vault", "status")["locked"] is True
    terminal.json("vault", "lock")
    assert (file.parent / "elsewhere").exists()
    terminal.json("vault", "unlock")
    noted = json.loads(file.read_text())
    file.write_text(json.dumps(noted | {name: noted[name] + 3600 for name in ("begun", "until")}))
    assert terminal.json("vault", "status")["locked"] is True, "the clock was set back"
    assert not file.exists()


def test_a_runtime_folder_that_others_may_read_is_not_used(terminal):
    folder = session_file(terminal.folder).parent
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    assert "alone" in terminal.run("vault", "unlock", code=Exit.USAGE).stderr
    assert list(folder.iterdir()) == []


def test_an_export_is_imported_elsewhere_and_others_may_not_read_it_at_any_moment(terminal, tmp_path, monkeypatch):
    link, target, modes, opened = tmp_path / "vault.mtrv", tmp_path / "somebody's", [], os.open
    target.write_text("precious")
    target.chmod(0o644)
    link.symlink_to(target)
    assert "link" in terminal.run("vault", "export", str(link), code=Exit.USAGE).stderr
    assert target.read_text() == "precious"
    terminal.run("vault", "export", str(tmp_path / "none" / "file"), code=Exit.USAGE)

    def watched(path, flags, mode=0o777, **more):
        if flags & os.O_CREAT and str(tmp_path) in os.fsdecode(path):
            modes.append((flags & os.O_EXCL, mode))
        return opened(path, flags, mode, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", watched)
        before = os.umask(0)
        try:
            exported = terminal.json("vault", "export", str(target))
        finally:
            os.umask(before)
    assert (os.O_EXCL, 0o600) in modes and {mode for _, mode in modes} == {0o600}
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    other, bad = Terminal(tmp_path / "other"), Terminal(tmp_path / "bad", password="another password")
    assert other.json("vault", "import", str(target))["did"] == exported["did"]
    assert other.json("vault", "status")["did"] == exported["did"]
    taken = Terminal(tmp_path / "taken", key="passkey")
    own = taken.json("vault", "create", "--software")["did"]
    for words in (("import", str(target)), ("pair", "http://127.0.0.1:9/x"), ("receive",)):
        assert "there is a vault here already" in taken.run("vault", *words, code=Exit.FAILED).stderr
    assert taken.json("vault", "status")["did"] == own
    assert "not imported" in bad.run("vault", "import", str(target), code=Exit.FAILED).stderr


def test_weak_passwords_are_refused_and_the_shortest_is_a_setting(terminal, tmp_path):
    file, strength = tmp_path / "vault.mtrv", terminal.environment
    for password, why in (("eleven char", "too short"), ("abababababab", "simple")):
        strength["HOLDFAST_EXPORT_PASSWORD"] = password
        assert why in terminal.run("vault", "export", str(file), code=Exit.USAGE).stderr
        new = Terminal(tmp_path / "new", password=password)
        for words in (("create", "--password"), ("pair", "http://127.0.0.1:9/x"), ("receive",)):
            assert why in new.run("vault", *words, code=Exit.USAGE).stderr
    strength["HOLDFAST_EXPORT_PASSWORD"] = "eight ch"
    for setting, code in (("7", Exit.USAGE), ("x", Exit.USAGE), ("9", Exit.USAGE), ("8", Exit.OK)):
        strength["HOLDFAST_MIN_PASSWORD"] = setting
        terminal.run("vault", "export", str(file), code=code)
        assert file.exists() == (code == Exit.OK)


def test_a_second_share_kept_in_a_file(tmp_path):
    terminal, share = Terminal(tmp_path / "vault", key="passkey"), tmp_path / "share"
    create = ("vault", "create", "--software", "--val-share", str(share))
    terminal.json(*create)
    assert stat.S_IMODE(share.stat().st_mode) == 0o600
    kept = share.read_text()
    refused = terminal.run("vault", "delegate", TO, "/accounts/list", code=Exit.FAILED)
    assert "val_share" in refused.stderr
    terminal.json("vault", "delegate", TO, "/accounts/list", "--val-share", str(share))
    terminal.run("vault", "delegate", TO, "/x", "--val-share", str(tmp_path / "none"), code=Exit.USAGE)
    another = Terminal(tmp_path / "another", key="passkey")
    another.run(*create, code=Exit.USAGE)  # the file of one vault never replaces another's
    assert share.read_text() == kept
    assert another.run("vault", "status", code=Exit.NOT_FOUND)


def test_delegate_with_limits_as_payments_are_judged_and_revoke(terminal):
    delegate, address = ("vault", "delegate", TO), "0x" + "ab" * 20
    for limit in (("--at-most", "1"), ("--in-total", "1"), ("--payee", address), ("--token", "native")):
        for command in ("/accounts", "/tokens/list"):
            assert "/accounts/pay" in terminal.run(*delegate, command, *limit, code=Exit.USAGE).stderr
    assert terminal.json(*delegate, "/accounts")["token"]
    limits = ("--at-most", "7", "--in-total", "9", "--payee", address, "--token", address)
    made = terminal.json(*delegate, "/accounts/pay", *limits)
    with UcanVerifier() as verifier:
        policy = verifier.verify(made["token"]).policy
    mixed = checksum_address(bytes.fromhex(address[2:]))
    assert policy == [["<=", ".amount", 7], ["<=", ".total", 9], ["==", ".to", mixed], ["==", ".token", mixed]]
    given = {"--payee": ("bob", MISTYPED), "--token": ("bob", MISTYPED), "--hours": ("inf", "nan")}
    given |= dict.fromkeys(("--at-most", "--in-total"), ("0", "-1", str(1 << 64), "1e18"))
    for name, text in ((name, text) for name, texts in given.items() for text in texts):
        terminal.run(*delegate, "/accounts/pay", name, text, code=Exit.USAGE)
    assert terminal.json("vault", "revoke", made["cid"]) == {"revoked": made["cid"]}
    terminal.run("vault", "revoke", "bafynone", code=Exit.NOT_FOUND)


def test_register_whoami_and_balance(terminal, service):
    """The fake chain's bundler cannot send operations, so the registration fails and says so."""
    terminal.environment["HOLDFAST_SERVICE_URL"] = at_localhost(service.base_url)
    assert terminal.json("whoami")["registered"] is None
    assert terminal.json("balance", "0x" + "22" * 20, "--token", "ETH")["formatted"] == "1.5"
    balance = "1.5 ETH and 2.500000 USDC on Base Sepolia (84532), test money without value\n"
    assert terminal.run("balance", "0x" + "22" * 20).stdout == balance
    refused = terminal.run("register", "--handle", "h" + secrets.token_hex(5), "--json", code=Exit.FAILED)
    assert json.loads(refused.stderr.splitlines()[-1])["exit"] == Exit.FAILED
    terminal.run("register", code=Exit.USAGE)


def test_a_payment_that_was_made_is_told_though_its_transaction_cannot_be_asked_for(terminal, monkeypatch):
    sent, page = "0x" + "01" * 32, "https://explorer.example/op/0x01"
    made = types.PaymentResult(tx_hash=sent, user_op_hash=sent, chain=84532, token="native", explorer_url=page)
    monkeypatch.setattr("holdfast.client.blocking.client.Client.pay", lambda *_, **__: made)
    words = ("pay", "0x" + "22" * 20, "5", "--chain", "84532", "--yes")
    assert terminal.json(*words) == {**made.to_json(), "transactionHash": None}
    assert terminal.run(*words).stdout == f"paid: {sent}\n{page}\n"


@pytest.mark.parametrize("view", [NetworkError("no answer"), [MagicMock(recovery=None)]], ids=["error", "lag"])
def test_a_recovery_that_was_started_is_told_though_its_time_cannot_be_read(terminal, monkeypatch, view):
    client = "holdfast.client.blocking.client.Client."
    for name, done in (("sign", None), ("start", "0x01")):
        monkeypatch.setattr(f"{client}{name}_account_recovery", lambda *_, done=done, **__: done)
    monkeypatch.setattr(f"{client}smart_account_address", lambda _: MISTYPED)
    monkeypatch.setattr(f"{client}account_view", MagicMock(side_effect=view))
    assert terminal.run("account", "recover", "start", "0x" + "22" * 20, "--yes").stdout == "started\n"


def test_what_is_mistyped_is_told_before_anything_is_done(terminal):
    for option, value in (("--paymaster", "ftp://x"), ("--rpc", "no address"), ("--service", "localhost:8787")):
        refused = terminal.run("pay", "0x" + "22" * 20, "5", "--yes", option, value, code=Exit.USAGE)
        assert refused.stderr.startswith(f"holdfast: {option} (HOLDFAST_") and "must start with http" in refused.stderr
    owner, permission, anyone = ("account", "owners", "add"), ("account", "permissions"), "0x" + "22" * 20
    for words, told in (
        (("pay", MISTYPED, "5"), "to: the address has a typing error"),
        (("pay", "0x" + "00" * 20, "5"), "to: not an address"),
        (("pay", anyone, "5", "--token", MISTYPED), "token: the address has a typing error"),
        ((*owner, MISTYPED), "signer: the address has a typing error"),
        ((*owner, anyone, "--also", "foo"), "--also must start with http"),
        ((*permission, "add", anyone, MISTYPED, "5"), "token: the address has a typing error"),
        ((*permission, "add", anyone, "native", "5", "--to", MISTYPED), "--to: the address has a typing error"),
        ((*permission, "remove", "0x12"), "ID: 0x and 64 hex digits"),
        (("account", "recover", "start", anyone, "--with", "a:b", "--yes"), "--with: what `holdfast account recover"),
        (("vault", "pair", "--host", "256.0.0.1"), "--host: this computer cannot listen there"),
        (("vault", "recover", "--gateway", "foo"), "--gateway must start with http"),
        (("vault", "delegate", "did:key", "/accounts/pay"), "DID: did:, a method"),
        *((("vault", "delegate", TO, it), "COMMAND: /resource/action") for it in ("accounts", "/Pay", "/a/", "//", "")),
        (("account", "did", "metadata", "my profile"), "CID: b and base32"),
    ):
        assert terminal.run(*words, code=Exit.USAGE).stderr.startswith(f"holdfast: {told}")


@contextmanager
def talking(words, folder, key="passkey"):
    pipes = [os.pipe() for _ in range(3)]
    ours, theirs = zip(pipes[0][::-1], *pipes[1:], strict=True)
    process = forked.start(list(words), environment_of(folder, key), theirs)
    for number in theirs:
        os.close(number)
    with os.fdopen(ours[0], "w") as stdin, os.fdopen(ours[1]) as stdout, os.fdopen(ours[2]) as stderr:
        yield SimpleNamespace(stdin=stdin, stdout=stdout, stderr=stderr, wait=process.wait)


# client/sync pairs by libp2p in the gate
@pytest.mark.parametrize("options", cases({"http": (), "libp2p": ("--libp2p",)}, "http"))
def test_pair_two_terminals(terminal, tmp_path, options):
    giving = ("vault", "pair", "--json", "--host", "127.0.0.1", *options)
    with talking(giving, terminal.folder) as old:
        link = until(old.stderr, r"holdfast vault pair (\S+)")
        with talking(("vault", "pair", link, "--json"), tmp_path / "new", "password") as new:
            digits = until(new.stderr, r"this device shows +(\d{6})")
            old.stdin.write(digits + "\n")
            old.stdin.flush()
            said = until(old.stderr, r"(?s)(.*this device shows +\d{6})")
            asked, _, shown = said.partition("the new device shows")
            assert digits in shown and digits not in asked, "the person has to look at the new device"
            new.stdin.write("y\n")
            new.stdin.flush()
            received, given = json.loads(new.stdout.readline()), json.loads(old.stdout.readline())
            assert (new.wait(120), old.wait(120)) == (0, 0)
    assert received == {"did": given["did"], "received": True}
    assert Terminal(tmp_path / "new").json("vault", "status")["did"] == given["did"]


NAME_ONE, GAS = "name the chain's endpoint (--rpc URL)", "the price of gas is not known"
UNKNOWN = "no endpoint of the chain is known"


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (InvitationRequired("invitation_required", 403), Exit.FAILED, "invitation_required (403): name the code"),
        (InvitationInvalid("invitation_invalid", 403), Exit.FAILED, "invitation_invalid (403): the code is unk"),
        (RequestRefused("rpc_error", 502), Exit.UNAVAILABLE, "rpc_error (502)"),
        (RateLimited("a", 429, retry_after_s=90.0), Exit.FAILED, "a (429): try again in 90 seconds"),
        (NoEndpoint(UNKNOWN), Exit.UNAVAILABLE, f"{UNKNOWN}: {NAME_ONE}"),
        (NoEndpoint(GAS, "in the gas policy"), Exit.UNAVAILABLE, f"{GAS}: {NAME_ONE}"),
        (NoEndpoint(UNKNOWN, main=False), Exit.UNAVAILABLE, f"{UNKNOWN}: the service must name one that"),
    ],
)
def test_a_message_names_the_option_that_helps(capsys, error, code, told):
    with pytest.raises(SystemExit) as ended, plain_errors(as_json=False):
        raise error
    said = capsys.readouterr().err
    assert ended.value.code == code and said.startswith(f"holdfast: Network: {told}")
    assert not isinstance(error, NoEndpoint) or ("--rpc" in said) == error.main


def test_a_device_that_does_not_answer_is_one_line(tmp_path):
    link = "/ip4/127.0.0.1/tcp/9/ws/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA"
    code, _, told = forked.run(["vault", "pair", link, "--json"], environment_of(tmp_path / "new"), b"", timeout=60)
    assert code == Exit.UNAVAILABLE
    assert "the other device does not answer" in json.loads(told)["error"]


def environment_of(folder, key="password"):
    return {**os.environ, **Terminal(folder, key=key).environment}


def until(stream, pattern):
    read = ""
    while True:
        letter = stream.read(1)
        assert letter, read
        read += letter
        if letter == "\n" and (found := re.search(pattern, read)):
            return found[1]


def test_help_imports_no_client():
    script = "import sys; from holdfast.cli.root import application; sys.exit(any('holdfast.client' in m for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_payment_that_nobody_can_confirm_is_refused_in_the_form_asked_for(terminal):
    words = ("pay", "0x" + "22" * 20, "100")
    told = json.loads(terminal.run(*words, "--json", code=Exit.USAGE).stderr)
    assert told == {"error": "there is no terminal to ask on: use --yes", "exit": Exit.USAGE}
    refused = terminal.run(*words, code=Exit.USAGE)
    assert (refused.stdout, refused.stderr) == ("", "holdfast: there is no terminal to ask on: use --yes\n")
    # With --yes, the command continues until it finds that the service is unreachable.
    assert "Network: " in terminal.run(*words, "--yes", code=Exit.UNAVAILABLE).stderr


def test_pay_shows_the_address_before_it_asks_and_pays_that_address(monkeypatch, capsys):
    """The account of a DID may change between the question and the payment; a full disk does not undo it."""
    shown, client = [], MagicMock(money_on="chain {}, real money".format)
    address, did = "0x52908400098527886E0F7030069857D2E4169EE7", "did:new:0x" + "11" * 32
    client.__enter__.return_value = client
    client.contracts.return_value = ContractSet.from_json({**DEFAULT_CONTRACT_SET, "chainId": 8453})
    client.payee_address.side_effect = {did: address}.get
    client.user_operation_receipt.return_value = None
    client.pay.return_value = types.PaymentResult(
        tx_hash="0x1", user_op_hash="0x2", chain=1, token="native", explorer_url=""
    )
    client.payments.side_effect = NetworkError("a service that does not respond does not undo a payment")
    monkeypatch.setattr("holdfast.client.blocking.client.Client", lambda *_, **__: client)
    monkeypatch.setattr(pay, "confirm", lambda question, **_: shown.append(question))
    monkeypatch.setattr(client_vault, "opened_vault", lambda *_: nullcontext())
    pay.pay(did, "5", yes=True)
    assert shown == [f"pay 5 (native) to {address} ({did}) on chain 8453, real money?"]
    client.pay.assert_called_once()
    assert (client.pay.call_args.args[0].to, client.pay.call_args.kwargs["called"]) == (address, did)
    with open("/dev/full", "w") as nowhere, monkeypatch.context() as full:  # noqa: PTH123 - a device
        full.setattr("sys.stdout", nowhere)
        with pytest.raises(SystemExit, match=str(int(Exit.UNAVAILABLE))):
            pay.pay(did, "5", yes=True)
    with open("/dev/full", "w") as nowhere, monkeypatch.context() as full:  # noqa: PTH123 - a device
        full.setattr("sys.stderr", nowhere)
        client_vault.say("sent")
    assert capsys.readouterr().err.endswith("the disk is full: paid: 0x1\n")


LATE = {
    "late": ("signed", OperationFailed("no receipt"), Exit.FAILED),
    "no answer": ("signed", NetworkError("cut"), Exit.UNAVAILABLE),
    "not sent": ("prepared", NetworkError("cut"), Exit.UNAVAILABLE),
    "Ctrl-C": ("signed", KeyboardInterrupt(), Exit.INTERRUPTED),
}


@pytest.mark.parametrize(("step", "error", "code"), LATE.values(), ids=LATE)
def test_what_to_do_about_a_payment_that_is_not_confirmed_is_told(terminal, monkeypatch, step, error, code):
    def stuck(*_, on_progress, **__):
        on_progress(step)
        raise error from NoReceipt("no receipt of the operation within 120 s")

    monkeypatch.setattr("holdfast.client.blocking.client.Client.pay", stuck)
    told = terminal.run("pay", "0x" + "22" * 20, "5", "--chain", "84532", "--yes", code=code).stderr
    assert (UNCONFIRMED in told) == (step == "signed")


def test_payments_are_listed_with_what_they_were_for(terminal, monkeypatch):
    paid = {"amount": "1.25", "symbol": "USDC", "time": "2026-01-02T03:04:05.000Z", "state": "confirmed"}
    made = PaymentNote(hash="0x" + "1" * 64, to="anna", shop="shop.example", label="bread", **paid)
    open_one = msgspec.structs.replace(made, to="bob", state="sent", shop=None, label=None)
    monkeypatch.setattr("holdfast.client.blocking.client.Client.payments", lambda _: [made, open_one])
    assert terminal.run("payments").stdout.splitlines() == [
        "2026-01-02T03:04:05.000Z  1.25 USDC to bob (sent)",
        "2026-01-02T03:04:05.000Z  1.25 USDC to anna: shop.example · bread",
        f"(sent): not confirmed. {AGAIN}",
    ]
    assert terminal.json("payments")["payments"][0] == made.to_json()
    monkeypatch.setattr("holdfast.client.blocking.client.Client.payments", lambda _: [])
    assert terminal.run("payments").stdout == "no payments\n"
