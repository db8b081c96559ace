"""`holdfast person` for operators, and `holdfast vault stored` and `take-back` for the person."""

import secrets

from tests.support.running_service import RunningService
from tests.support.serving import DID
from tests.support.terminal import Terminal

from holdfast.cli import client_vault
from holdfast.cli.exits import Exit


def test_an_operator_copies_and_erases_a_person(registered, holdfast):
    found = holdfast("person", "export", "ANN", "--json", data=registered.data).value
    assert found == holdfast("person", "export", DID, "--json", data=registered.data).value | {
        "exportedAt": found["exportedAt"]
    }
    assert (found["did"], [row["given"] for row in found["identifiers"]]) == (DID, ["Ann"])
    assert '"given": "Ann"' in holdfast("person", "export", "ann", data=registered.data).out
    assert holdfast("person", "erase", "ann", data=registered.data).code == Exit.USAGE  # no one confirmed it
    gone = holdfast("person", "erase", "ann", "--yes", "--json", data=registered.data)
    assert gone.value == {"did": DID, "identifiers": 1, "credentials": 1, "snapshots": 0, "pins": 0}
    with registered.client() as client:
        assert client.get("/api/sessions/check?handle=ann").json()["available"] is True
    left = holdfast("identifier", "show", "ann", "--json", data=registered.data).value
    assert left["claim"] is None and left["credentials"] == []
    assert [row["action"] for row in left["history"]] == ["session", "registered", "released"]
    assert {row["did"][:5] for row in left["history"]} == {"hash "}
    assert holdfast("person", "erase", "ann", "--yes", data=registered.data).code == Exit.NOT_FOUND
    again = holdfast("person", "erase", DID, "--yes", data=registered.data)
    nothing = f"{DID}\nremoved: identifiers 0, credentials 0, snapshots 0, pins 0\n"
    assert (again.code, again.out) == (Exit.OK, nothing)


def test_a_person_looks_and_takes_back(tmp_path, serve, monkeypatch):
    server = serve()
    service = server.url.replace("127.0.0.1", "localhost")
    terminal = Terminal(tmp_path / "vault", key="passkey")
    terminal.json("vault", "create", "--software")
    (passkey,) = (credential["credential_id"] for credential in terminal.json("vault", "credentials"))
    name = "h" + secrets.token_hex(5)
    terminal.json("register", "--handle", name, "--service", service)
    terminal.json("register", "--handle", name.upper(), "--service", service)
    for other in (("--handle", f"{name}-2"), ("--email", f"{name}@a.example")):
        refused = terminal.run("register", *other, "--service", service, code=Exit.FAILED)
        assert f"nothing was done: the vault is registered as {name}" in refused.stderr
    found = terminal.json("vault", "stored", "--service", service)
    assert [row["key"] for row in found["identifiers"]] == [name] and len(found["credentials"]) == 1
    sent = RunningService(service, server.data)
    for address, more in ((f"{name}@a.example", ()), (f"{name}@b.example", ("--instead-of", f"{name}@a.example"))):
        monkeypatch.setattr(client_vault, "ask_code", lambda _message, to=address: sent.code_for(to))
        terminal.json("vault", "add-address", address, *more, "--service", service)
    found = terminal.json("vault", "stored", "--service", service)
    assert [row["key"] for row in found["identifiers"]] == [name, f"{name}@b.example"], "the old address is freed"
    take_back = ("vault", "take-back", "--service", service, "--yes")
    terminal.run(*take_back, code=Exit.USAGE)
    terminal.run(*take_back, "--everything", "--passkey", "x", code=Exit.USAGE)
    nothing = {"identifiers": 0, "credentials": 0, "snapshots": 0, "pins": 0}
    assert terminal.json(*take_back, "--identifier", "someone-else") == nothing
    assert terminal.json(*take_back, "--passkey", passkey) == {**nothing, "credentials": 1}
    assert terminal.json("whoami", "--service", service)["registered"] is None
    assert terminal.json(*take_back, "--identifier", name) == {**nothing, "identifiers": 1}
    gone = terminal.json(*take_back, "--everything")
    assert (gone["identifiers"], gone["credentials"]) == (1, 0)
    left = terminal.json("vault", "stored", "--service", service)
    assert not left["identifiers"] and not left["snapshots"]
