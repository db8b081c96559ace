"""`holdfast vault move` between two real services: a person who is registered at one goes on at the other."""

import secrets

from tests.support.running_service import RunningService
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.terminal import Terminal

from holdfast.chain.signers import p256_signer
from holdfast.cli import client_vault, vault_move
from holdfast.cli.exits import Exit
from holdfast.client.blocking.service_client import ServiceClient
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.encoding import from_base64url


def test_a_person_moves_with_the_dids_transaction_and_goes_on_there(chain, tmp_path, monkeypatch):
    """The new service requires the proof. The chain gets only the change with which the new passkey owns the account."""
    other = chain.another(tmp_path / "new", chain.bundler_url, HOLDFAST_REGISTRATION_PROOF="required")
    codes = {url_of(each): RunningService(each.base_url, each.data).code_for for each in (chain, other)}
    old, new = codes
    ada, email = Terminal(tmp_path / "ada", old, key="passkey"), f"{secrets.token_hex(6)}@example.org"
    ada.json("vault", "create", "--software")
    monkeypatch.setattr(client_vault, "ask_code", lambda _: codes[old](email))
    made = ada.json("register", "--email", email)
    monkeypatch.setattr(client_vault, "ask_code", lambda _: codes[new](email))
    ada.run("account", "owners", "add", passkey_of(ada), "--yes")
    move = ("vault", "move", "--to")
    ada.run(*move, new, code=Exit.USAGE)  # no terminal to confirm the host on
    ada.run(*move, f"{new}/vault", "--yes", code=Exit.USAGE)
    ada.run(*move, new, "--yes", "--no-owner", "--end-old-passkey", code=Exit.USAGE)
    monkeypatch.setattr(vault_move, "require_answer", lambda **_: None)
    assert "nothing was done" in ada.run(*move, new, typed="localhost\n", code=Exit.FAILED).output
    told = ada.run(*move, new, "--end-old-passkey", typed=new.partition("//")[2] + "\n")
    assert f"{email} is at {new} now, and stays {made['did']}" in told.stdout
    with ServiceClient(old) as left, ServiceClient(new) as there:
        assert [each.check_session(email, "email").available for each in (left, there)] == [True, False]
        found = there.lookup_did(ada.json("vault", "credentials")[-1]["credential_id"])
    assert (found.did, found.identifier, found.tx_hash) == (made["did"], email, made["tx_hash"])
    ada.environment["HOLDFAST_SERVICE_URL"] = new
    assert ada.json("whoami")["smartAccount"] == made["smart_account"]
    assert ada.json("vault", "status")["snapshot"]["current"]
    owners = ada.json("account", "owners", "list")["owners"]
    assert [owner["signer"] for owner in owners][1:] == [passkey_of(ada)]


def url_of(service):
    return service.base_url.replace("127.0.0.1", "localhost")


def passkey_of(ada):
    with VaultStore(directory=ada.folder) as store:
        device = SoftwareAuthenticator(store.path.with_name("passkeys.json"))
        point = device.public_key(from_base64url(store.note("passkey") or "")).public_numbers()
    return "0x" + p256_signer(point.x, point.y).hex()
