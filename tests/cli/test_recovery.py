"""The snapshot commands with a real service: automatic uploads, and recovery from a passkey, a name or a file."""

from __future__ import annotations

import json
import secrets

import pytest
from tests.support.running_service import running_service
from tests.support.soak import cases
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.terminal import PASSWORD, Terminal

from holdfast.cli import client_vault
from holdfast.cli.exits import Exit
from holdfast.client.blocking.vault import Vault
from holdfast.client.passkeys import Authenticator, PasskeyKey
from holdfast.client.snapshots.state import SnapshotState, write_state
from holdfast.client.storage.pinning import AsyncPinning
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.vault.keys import PasswordKey
from holdfast.content.names import public_key_of
from holdfast.wire.client_errors import NetworkError

TO = "did:key:zDnaeauPWVsCwreeRxYutKVufGz8e1VMn4x9p6J9PswiH8KPG"


@pytest.fixture(autouse=True)
def runtime_folder(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("service"), MAX_REGISTRATIONS_PER_IP="1000") as running:
        yield running.base_url.replace("127.0.0.1", "localhost")


@pytest.fixture
def security_key(monkeypatch, service):
    """A simulated security key that is plugged in."""
    key = Authenticator(service, SoftwareAuthenticator())
    monkeypatch.setattr(client_vault, "security_key", lambda _service, _device=None: key)
    return key


@pytest.fixture(params=["passkey", pytest.param("password", marks=pytest.mark.soak)])
def first(request, tmp_path, service, security_key):
    made = Terminal(tmp_path / "first", service, key=request.param)
    made.kind = request.param
    made.json("vault", "create")
    made.json("register", "--handle", "c" + secrets.token_hex(6))
    return made


def sealed(terminal):
    with VaultStore(directory=terminal.folder) as store:
        return store.load().sealed


def test_what_a_command_changes_goes_up_and_comes_back(first, tmp_path, service):
    assert first.json("vault", "status")["snapshot"]["current"]
    first.json("vault", "delegate", TO, "/accounts/pay")
    status = first.json("vault", "status")
    assert (status["snapshot"]["status"], status["snapshot"]["current"]) == ("pinned", True)
    name = first.json("vault", "snapshot")["name"]
    new = Terminal(tmp_path / "new", service, key=first.kind)
    words = () if first.kind == "passkey" else ("--key", "password", "--name", name)
    found = new.json("vault", "recover", *words)
    assert found["did"] == status["did"]
    assert sealed(new) == sealed(first)
    assert new.json("whoami")["did"] == status["did"]
    new.json("vault", "delegate", TO, "/accounts/pay")
    assert new.json("vault", "status")["snapshot"]["sequence"] == status["snapshot"]["sequence"] + 1


@pytest.mark.parametrize("first", ["passkey"], indirect=True)
def test_the_passkeys_user_handle_is_the_vaults_publishing_key(first, security_key):
    name = first.json("vault", "snapshot")["name"]
    assert security_key.discover().user_handle == public_key_of(name)


def test_two_terminals_that_both_changed(first, tmp_path, service):
    name = first.json("vault", "snapshot")["name"]
    new = Terminal(tmp_path / "new", service, key=first.kind)
    new.json("vault", "recover", *(() if first.kind == "passkey" else ("--key", "password", "--name", name)))
    first.json("vault", "delegate", TO, "/accounts/pay")
    told = new.run("vault", "delegate", TO, "/accounts/pay").stderr
    assert "another device has changed the vault too" in told
    assert new.json("vault", "status")["snapshot"]["status"] == "conflict"
    (difference,) = [row for row in new.json("vault", "compare") if row["table"] == "delegations"]
    assert (len(difference["only_here"]), len(difference["only_there"])) == (1, 1)
    assert new.json("vault", "choose", "there")["status"] == "pinned"
    assert new.json("vault", "status")["snapshot"]["current"]
    first.run("vault", "choose", "sideways", code=Exit.USAGE)


# One function asks in both cases, so that each answer is given once in the gate.
ANSWERS = {answer: answer for answer in ("yes", "no", "no terminal", "--accept-older")}


@pytest.mark.parametrize("first", ["passkey"], indirect=True)
@pytest.mark.parametrize("answer", cases(ANSWERS, "no terminal", "--accept-older"))
def test_a_snapshot_older_than_one_seen_before_is_taken_only_by_the_person(
    first, tmp_path, service, monkeypatch, answer
):
    did = first.json("vault", "snapshot") and first.json("vault", "status")["did"]
    new = Terminal(tmp_path / "new", service, key="passkey")
    with VaultStore(directory=new.folder) as store:
        write_state(store, SnapshotState(did=did, sequence=50))
    monkeypatch.setattr(client_vault, "is_terminal", lambda: answer in {"yes", "no"})
    words = ("vault", "recover")
    taken = answer in {"yes", "--accept-older"}
    if answer == "--accept-older":
        told = new.run(*words, "--accept-older")
    else:
        told = new.run(*words, code=0 if taken else Exit.FAILED, typed=f"{answer[0]}\n")
    assert "rolled back" in told.output and "sequence 1, and this device has seen 50" in told.output
    assert ("take it all the same?" in told.output) == (answer in {"yes", "no"})
    with VaultStore(directory=new.folder) as store:
        assert store.dids() == ([did] if taken else [])


def removes_its_passkey(terminal, security_key, monkeypatch):
    """Replace the vault's passkey by a password and publish, while the service removes no pins of earlier snapshots."""
    passkey = security_key.discover().credential_id
    with VaultStore(directory=terminal.folder) as store, Vault(store) as vault:
        vault.unlock(PasskeyKey(security_key, passkey))
        vault.add_key(PasswordKey(PASSWORD))
        vault.remove_key("prf", passkey)
    monkeypatch.setattr(AsyncPinning, "delete", unanswered)
    return terminal.json("vault", "snapshot", "--key", "password")["root"]


async def unanswered(*_):
    raise NetworkError("no answer")


@pytest.mark.parametrize("first", ["passkey"], indirect=True)
@pytest.mark.parametrize("answer", cases(ANSWERS, "yes", "no"))
def test_a_key_that_opens_only_an_older_snapshot_brings_it_if_the_person_says_so(
    first, tmp_path, service, security_key, monkeypatch, answer
):
    before = first.json("vault", "status")["snapshot"]["root"]
    newest = removes_its_passkey(first, security_key, monkeypatch)
    new = Terminal(tmp_path / "new", service, key="passkey")
    monkeypatch.setattr(client_vault, "is_terminal", lambda: answer in {"yes", "no"})
    words = ("vault", "recover", "--json", *([answer] if answer == "--accept-older" else []))
    taken = answer in {"yes", "--accept-older"}
    told = new.run(*words, code=0 if taken else Exit.FAILED, typed=f"{answer[0]}\n")
    assert "cannot be opened with this key; the one from 20" in told.output
    assert ("take it all the same?" in told.output) == (answer in {"yes", "no"})
    with VaultStore(directory=new.folder) as store:
        assert len(store.dids()) == taken
    if taken:
        found = json.loads(told.stdout.splitlines()[-1])  # after the echo of the answer
        assert (found["root_cid"], found["newer_root"]) == (before, newest)


def test_a_token_is_made_out_to_the_named_service(first, service):
    first.environment["HOLDFAST_SERVICE_DID"] = "did:web:elsewhere.example"
    assert "addressed to another service" in first.run("vault", "delegate", TO, "/accounts/pay").stderr
    first.environment["HOLDFAST_SERVICE_DID"] = f"did:web:localhost%3A{service.rpartition(':')[2]}"
    first.json("vault", "delegate", TO, "/accounts/pay")
    assert first.json("vault", "status")["snapshot"]["current"]


def test_from_a_file_with_the_service_gone(first, tmp_path):
    first.json("vault", "snapshot", "--car", str(tmp_path / "vault.car"))
    before = sealed(first)
    new = Terminal(tmp_path / "new", "http://localhost:9", key=first.kind)
    new.json("vault", "recover", "--key", first.kind, "--car", str(tmp_path / "vault.car"))
    assert sealed(new) == before


def test_offline_changes_go_up_later(first, service):
    first.json("vault", "snapshot")
    before = first.json("vault", "status")["snapshot"]["sequence"]
    with VaultStore(directory=first.folder) as store:
        store.set_note("snapshots-at", "http://localhost:9")
    first.environment["HOLDFAST_SERVICE_URL"] = "http://localhost:9"
    told = first.run("vault", "delegate", TO, "/accounts/pay").stderr
    assert "not up to date yet" in told
    assert first.json("vault", "status")["snapshot"]["status"] == "failed"
    with VaultStore(directory=first.folder) as store:
        store.set_note("snapshots-at", service)
    first.environment["HOLDFAST_SERVICE_URL"] = service
    first.run("vault", "credentials")
    status = first.json("vault", "status")["snapshot"]
    assert (status["current"], status["sequence"]) == (True, before + 1)


def test_what_is_missing_is_told_in_one_line(tmp_path, service, security_key):
    empty = Terminal(tmp_path / "empty", service, key="")
    assert "--name" in empty.run("vault", "recover", "--key", "password", code=Exit.USAGE).output
    assert "security key" in empty.run("vault", "recover", code=Exit.FAILED).output
    told = empty.run("vault", "recover", "--key", "password", "--car", str(tmp_path / "none"), code=Exit.USAGE).output
    assert "cannot be read" in told
    (tmp_path / "damaged").write_bytes(b"no CAR file")
    empty.run("vault", "recover", "--key", "password", "--car", str(tmp_path / "damaged"), code=Exit.FAILED)
    with VaultStore(directory=empty.folder) as store:
        assert store.dids() == []
