"""The snapshot commands with a real service: automatic uploads, and recovery from a passkey, a name or a file."""

import secrets

import pytest
from tests.support.running_service import running_service
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.terminal import Terminal

from holdfast.cli import client_vault, recovery
from holdfast.cli.client_snapshots import summary
from holdfast.cli.exits import Exit
from holdfast.client.passkeys import Authenticator, Person
from holdfast.client.snapshots.state import SnapshotState, write_state
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types import VaultManifest
from holdfast.content.names import public_key_of

TO = "did:key:zDnaeauPWVsCwreeRxYutKVufGz8e1VMn4x9p6J9PswiH8KPG"
DELEGATE = ("vault", "delegate", TO, "/accounts/pay")
NOWHERE = "http://localhost:9"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("service"), MAX_REGISTRATIONS_PER_IP="1000") as running:
        yield running.base_url.replace("127.0.0.1", "localhost")


@pytest.fixture
def security_key(monkeypatch, service):
    key, usual = Authenticator(service, SoftwareAuthenticator()), client_vault.security_key
    monkeypatch.setattr(client_vault, "security_key", lambda url, own=None: usual(url, own) if own else key)
    return key


@pytest.fixture
def first(tmp_path, service, security_key):
    made = Terminal(tmp_path / "first", service, key="passkey")
    made.json("vault", "create")
    made.json("register", "--handle", "c" + secrets.token_hex(6))
    return made


@pytest.fixture
def new(tmp_path, service):
    return Terminal(tmp_path / "new", service, key="passkey")


def sealed(terminal):
    with VaultStore(directory=terminal.folder) as store:
        return store.load().sealed


def dids(terminal):
    with VaultStore(directory=terminal.folder) as store:
        return store.dids()


def snapshot_of(terminal):
    return terminal.json("vault", "status")["snapshot"]


def test_what_a_command_changes_goes_up_and_comes_back(first, new, service, security_key, tmp_path):
    assert snapshot_of(first)["current"]
    assert security_key.discover().user_handle == public_key_of(first.json("vault", "snapshot")["name"])
    first.run("vault", "snapshot", "--service", NOWHERE, code=Exit.UNAVAILABLE)  # what another one has is not there
    first.environment["HOLDFAST_SERVICE_DID"] = "did:web:elsewhere.example"
    assert "addressed to another service" in first.run(*DELEGATE).stderr
    assert "addressed to another service" in first.run("payments", code=Exit.FAILED).stderr
    first.environment["HOLDFAST_SERVICE_DID"] = f"did:web:localhost%3A{service.rpartition(':')[2]}"
    first.json(*DELEGATE)
    first.json("payments")
    before, did = snapshot_of(first), first.json("vault", "status")["did"]
    assert (before["status"], before["current"]) == ("pinned", True)
    new.folder.mkdir()
    elsewhere = Authenticator("https://other.example", SoftwareAuthenticator(new.folder / "passkeys.json"))
    elsewhere.create_passkey(Person("ann"))  # which hides the security key from no command
    assert new.json("vault", "recover")["did"] == new.json("whoami")["did"] == did
    assert sealed(new) == sealed(first)
    new.json(*DELEGATE)
    assert snapshot_of(new)["sequence"] == before["sequence"] + 1
    file = str(tmp_path / "vault.car")
    first.json("vault", "snapshot", "--car", file)
    elsewhere = Terminal(tmp_path / "elsewhere", NOWHERE, key="passkey")
    elsewhere.json("vault", "recover", "--key", "passkey", "--car", file)
    assert sealed(elsewhere) == sealed(first)
    taken, own = Terminal(tmp_path / "taken", service, key="passkey"), "did:new:0x" + "01" * 32
    with VaultStore(directory=taken.folder) as store:
        store.save(VaultManifest(root_cid=None, did=own, updated_at=1, wasm_version="1", schema_version=1), b"", 1)
        store.set_note("passkey", "own")
    assert "there is a vault here already" in taken.run("vault", "recover", code=Exit.FAILED).stderr
    with VaultStore(directory=taken.folder) as store:
        assert (store.dids(), store.note("passkey")) == ([own], "own")


def test_two_terminals_that_both_changed(first, new):
    new.json("vault", "recover")
    first.json(*DELEGATE)
    assert "another device has changed the vault too" in new.run(*DELEGATE).stderr
    assert snapshot_of(new)["status"] == "conflict"
    (difference,) = [row for row in new.json("vault", "compare") if row["table"] == "delegations"]
    assert (len(difference["only_here"]), len(difference["only_there"])) == (1, 1)
    assert new.json("vault", "choose", "there")["status"] == "pinned"
    assert snapshot_of(new)["current"]
    first.run("vault", "choose", "sideways", code=Exit.USAGE)


def test_a_snapshot_older_than_one_seen_before_is_taken_only_by_the_person(first, new, service, monkeypatch):
    def recovers(*words, device=new, typed=None, code=Exit.OK):
        with VaultStore(directory=device.folder) as store:
            write_state(store, SnapshotState(did=dids(first)[0], sequence=50))
        told = device.run("vault", "recover", "--json", *words, code=code, typed=typed).output
        assert "rolled back" in told and "sequence 1, and this device has seen 50" in told
        assert ("take it all the same?" in told, len(dids(device))) == (typed is not None, code == Exit.OK)

    recovers(code=Exit.FAILED)
    monkeypatch.setattr(recovery, "is_terminal", lambda: True)
    recovers(typed="n\n", code=Exit.FAILED)
    recovers(typed="y\n", device=Terminal(new.folder.with_name("other"), service, key="passkey"))
    monkeypatch.setattr(recovery, "is_terminal", lambda: False)
    recovers("--accept-older")


def test_an_imported_vault_is_not_called_up_to_date_at_the_revision_that_was_uploaded(tmp_path):
    did = "did:new:0x" + "01" * 32
    with VaultStore(directory=tmp_path) as store:
        manifest = VaultManifest(root_cid=None, did=did, updated_at=1, wasm_version="1", schema_version=1)
        stored = store.save(manifest, b"sealed", 3)
        write_state(store, SnapshotState(did=did, revision=3, acknowledged_revision=3, acknowledged_root="b"))
        assert summary(store, stored).fields["snapshot"]["current"] is False


def test_what_is_missing_is_told_in_one_line(tmp_path, service, security_key):
    empty, by_password = Terminal(tmp_path / "empty", service, key=""), ("vault", "recover", "--key", "password")
    assert "--name" in empty.run(*by_password, code=Exit.USAGE).output
    assert "security key" in empty.run("vault", "recover", code=Exit.FAILED).output
    assert "cannot be read" in empty.run(*by_password, "--car", str(tmp_path / "none"), code=Exit.USAGE).output
    (tmp_path / "damaged").write_bytes(b"no CAR file")
    damaged = empty.run(*by_password, "--car", str(tmp_path / "damaged"), code=Exit.FAILED)
    assert "damaged is not a whole snapshot" in damaged.stderr
    assert dids(empty) == []
