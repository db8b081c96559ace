"""`holdfast account did` on a real local chain: a DID's state, metadata, aliases and controller."""

import secrets

import pytest
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.terminal import Terminal

from holdfast.client.passkeys import Authenticator, Person


def device(chain, folder, name):
    terminal = Terminal(folder / name, chain.base_url)
    fresh = Authenticator("http://localhost:8787", SoftwareAuthenticator()).create_passkey(Person(name))
    (folder / f"{name}.credential").write_text(fresh.credential)
    terminal.json("vault", "create", "--credential", str(folder / f"{name}.credential"))
    chain.give(terminal.json("whoami")["smartAccount"], 1_000)
    return terminal


@pytest.mark.soak  # vectors/flows/did.json, vectors/accounts/did_calls.json and test_page_identity.py are in the gate
def test_a_did_is_changed_and_handed_over(chain, tmp_path):
    first, second = device(chain, tmp_path, "first"), device(chain, tmp_path, "second")
    handle = f"d{secrets.token_hex(5)}"
    mine = first.json("register", "--handle", handle)
    show = ("account", "did", "show")
    found = first.json(*show)
    assert found == {
        "did": mine["did"], "controller": found["controller"], "active": True, "metadata": "", "proposed": None,
    }  # fmt: skip
    first.json("account", "did", "metadata", "bafymeta")
    first.json("account", "did", "add-alias", f"{handle}too")
    first.json("account", "did", "deactivate-alias", f"{handle}too", "--yes")
    first.json("account", "did", "activate-alias", f"{handle}too")
    first.json("account", "did", "deactivate", "--yes")
    assert (first.json(*show)["active"], first.json(*show)["metadata"]) == (False, "bafymeta")
    refused = first.run("account", "did", "metadata", "bafyother", code=1)
    assert "DidNotActive" in refused.output
    first.json("account", "did", "activate")
    theirs = second.json("whoami")["smartAccount"]
    first.json("account", "did", "propose-controller", theirs, "--yes")
    assert first.json(*show)["proposed"].lower() == theirs.lower()
    second.json("account", "did", "accept", mine["did"])
    assert second.json(*show, "--did", mine["did"])["controller"].lower() == theirs.lower()
