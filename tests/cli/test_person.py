"""`holdfast person` for operators, and `holdfast vault stored` and `take-back` for the person."""

import secrets

from tests.support.running_service import RunningService
from tests.support.serving import DID
from tests.support.terminal import Terminal

from holdfast.cli import client_vault
from holdfast.cli.exits import Exit


def test_an_operator_copies_and_erases_a_person(registered, holdfast):
    def person(*words, code=Exit.OK):
        answer = holdfast("person", *words, data=registered.data)
        assert answer.code == code, answer
        return answer

    found = person("export", "ANN", "--json").value
    assert person("export", DID, "--json").value | {"exportedAt": found["exportedAt"]} == found
    assert (found["did"], [row["given"] for row in found["identifiers"]]) == (DID, ["Ann"])
    assert '"given": "Ann"' in person("export", "ann").out
    person("erase", "ann", code=Exit.USAGE)  # no one confirmed it
    gone = person("erase", "ann", "--yes", "--json").value
    assert gone == {"did": DID, "identifiers": 1, "credentials": 1, "snapshots": 0, "pins": 0}
    left = holdfast("identifier", "show", "ann", "--json", data=registered.data).value
    assert (left["claim"], left["credentials"], {row["did"][:5] for row in left["history"]}) == (None, [], {"hash "})
    person("erase", "ann", "--yes", code=Exit.NOT_FOUND)
    nothing = f"{DID}\nremoved: identifiers 0, credentials 0, snapshots 0, pins 0\n"
    assert person("erase", DID, "--yes").out == nothing


def test_a_person_looks_and_takes_back(tmp_path, serve, monkeypatch):
    server = serve()
    service = server.url.replace("127.0.0.1", "localhost")
    terminal, sent = Terminal(tmp_path / "vault", service, key="passkey"), RunningService(service, server.data)
    terminal.json("vault", "create", "--software")
    (passkey,) = (credential["credential_id"] for credential in terminal.json("vault", "credentials"))
    name = "h" + secrets.token_hex(5)
    for handle in (name, name.upper()):
        terminal.json("register", "--handle", handle)
    for other in (("--handle", f"{name}-2"), ("--email", f"{name}@a.example")):
        refused = terminal.run("register", *other, code=Exit.FAILED)
        assert f"nothing was done: the vault is registered as {name}" in refused.stderr
    for address, more in ((f"{name}@a.example", ()), (f"{name}@b.example", ("--instead-of", f"{name}@a.example"))):
        monkeypatch.setattr(client_vault, "ask_code", lambda _message, to=address: sent.code_for(to))
        terminal.json("vault", "add-address", address, *more)
    found = terminal.json("vault", "stored")
    assert [row["key"] for row in found["identifiers"]] == [name, f"{name}@b.example"], "the old address is freed"
    assert len(found["credentials"]) == 1
    take_back = ("vault", "take-back", "--yes")
    terminal.run(*take_back, code=Exit.USAGE)
    terminal.run(*take_back, "--everything", "--passkey", "x", code=Exit.USAGE)
    nothing = {"identifiers": 0, "credentials": 0, "snapshots": 0, "pins": 0}
    assert terminal.json(*take_back, "--identifier", "someone-else") == nothing
    assert terminal.json(*take_back, "--passkey", passkey) == {**nothing, "credentials": 1}
    assert terminal.json("whoami")["registered"] is None
    assert terminal.json(*take_back, "--identifier", name) == {**nothing, "identifiers": 1}
    assert terminal.json(*take_back, "--everything")["identifiers"] == 1
    left = terminal.json("vault", "stored")
    assert not left["identifiers"] and not left["snapshots"]
