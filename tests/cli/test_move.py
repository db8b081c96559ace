"""`holdfast vault move` between two real services: a person who is registered at one goes on at the other."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest
from tests.support.running_service import running_service
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.terminal import Terminal

from holdfast.chain.signers import p256_signer
from holdfast.cli import client_vault, vault_move
from holdfast.cli.exits import Exit
from holdfast.client.blocking.service_client import ServiceClient
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.encoding import from_base64url

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.chain_service import ChainService
    from tests.support.running_service import RunningService


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory):
    with (
        running_service(tmp_path_factory.mktemp("old")) as old,
        running_service(tmp_path_factory.mktemp("new")) as new,
    ):
        yield old, new


def url_of(service: RunningService) -> str:
    return service.base_url.replace("127.0.0.1", "localhost")


def test_a_did_on_the_chain_moves_with_its_transaction(chain: ChainService, tmp_path: Path):
    """The new service requires the proof. The chain gets only the change with which the new passkey owns the account."""
    other = chain.another(tmp_path / "new", chain.bundler_url, HOLDFAST_REGISTRATION_PROOF="required")
    old, new = (each.base_url.replace("127.0.0.1", "localhost") for each in (chain, other))
    ada, handle = Terminal(tmp_path / "ada", old, key="passkey"), "m" + secrets.token_hex(6)
    ada.json("vault", "create", "--password")
    made = ada.json("register", "--handle", handle)
    ada.run("account", "owners", "add", passkey_of(ada), "--yes")
    moved = ada.json("vault", "move", "--to", new, "--yes", "--end-old-passkey")
    assert (moved["is_owner"], moved["former_is_owner"]) == (True, False)
    with ServiceClient(new) as service:
        found = service.lookup_did(moved["credential_id"])
    assert found is not None
    assert (found.did, found.identifier, found.tx_hash) == (made["did"], handle, made["tx_hash"])
    ada.environment["HOLDFAST_SERVICE_URL"] = new
    assert ada.json("whoami")["smartAccount"] == made["smart_account"]
    owners = ada.json("account", "owners", "list")["owners"]
    assert [owner["signer"] for owner in owners][1:] == [passkey_of(ada)]


def passkey_of(ada: Terminal) -> str:
    """Return the signer of the passkey that the vault's commands use."""
    with VaultStore(directory=ada.folder) as store:
        device = SoftwareAuthenticator(store.path.with_name("passkeys.json"))
        point = device.public_key(from_base64url(store.note("passkey") or "")).public_numbers()
    return "0x" + p256_signer(point.x, point.y).hex()


def test_an_address_is_proven_to_the_new_service(services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    old, new = services
    ada = Terminal(tmp_path / "ada", url_of(old), key="passkey")
    ada.json("vault", "create", "--software")
    monkeypatch.setattr(client_vault, "ask_code", lambda _: old.code_for("ada@example.org"))
    ada.json("register", "--email", "ada@example.org")
    monkeypatch.setattr(client_vault, "ask_code", lambda _: new.code_for("ada@example.org"))
    moved = ada.json("vault", "move", "--to", url_of(new), "--yes", "--no-owner")
    assert (moved["identifier"], moved["channel"]) == ("ada@example.org", "email")


def test_a_person_moves_and_goes_on_there(services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    old, new = map(url_of, services)
    ada, handle = Terminal(tmp_path, old, key="passkey"), "m" + secrets.token_hex(6)
    ada.json("vault", "create", "--software")
    did = ada.json("register", "--handle", handle)["did"]
    ada.run("vault", "move", "--to", new, code=Exit.USAGE)  # no terminal to confirm the host on
    ada.run("vault", "move", "--to", f"{new}/vault", "--yes", code=Exit.USAGE)
    ada.run("vault", "move", "--to", new, "--yes", "--no-owner", "--end-old-passkey", code=Exit.USAGE)
    assert "is the service that the vault is at" in ada.run("vault", "move", "--to", old, "--yes", code=1).output
    monkeypatch.setattr(vault_move, "require_answer", lambda **_: None)
    assert "nothing was done" in ada.run("vault", "move", "--to", new, typed="localhost\n", code=1).output
    told = ada.run("vault", "move", "--to", new, "--no-owner", typed=new.partition("//")[2] + "\n")
    assert f"{handle} is at {new} now, and stays {did}" in told.stdout
    for url, is_free in ((old, True), (new, False)):
        with ServiceClient(url) as service:
            assert service.check_session(handle).available == is_free
    ada.environment["HOLDFAST_SERVICE_URL"] = new
    assert ada.json("vault", "status")["snapshot"]["current"]
    assert ada.json("whoami")["did"] == did
