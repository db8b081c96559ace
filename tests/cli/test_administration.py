"""Operators list, count, ban, transfer and rename while the service runs; each act names who did it."""

import csv
import io
import os

from tests.support.serving import DID

from holdfast.cli.exits import Exit
from holdfast.cli.identifier import acting

OTHER = "did:new:0x" + "22" * 32


def test_a_user_without_a_name_acts_by_its_number(monkeypatch):
    """As in the container image, whose user has no name."""
    for name in ("SUDO_USER", "LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 5)
    assert acting(None, as_json=False).operator == f"cli:{2**31 - 5}"


def test_an_operators_day(serve, holdfast):
    running = serve()

    def call(*words, code=Exit.OK):
        answer = holdfast(*words, data=running.data)
        assert answer.code == code, answer
        return answer

    with running.client() as client:
        for n, name in enumerate(("ann", "anne", "bob")):
            assert running.session(client, name, f"192.0.2.{n}").status_code == 200
        page = call("identifier", "list", "--limit", "2", "--json").value
        assert [row["identifier"] for row in page["identifiers"]] == ["bob", "anne"]
        rest = call("identifier", "list", "--after", page["after"], "--json").value
        assert ([row["identifier"] for row in rest["identifiers"]], rest["after"]) == (["ann"], None)
        assert "ip" not in rest["identifiers"][0], "the hash of an address is nobody's to read"
        found = call("identifier", "list", "--prefix", "AN", "--state", "session", "--csv").out
        assert [row["identifier"] for row in csv.DictReader(io.StringIO(found))] == ["ann", "anne"]
        assert "anne" in call("identifier", "list", "--address", "192.0.2.1").out
        call("identifier", "list", "--day", "yesterday", code=Exit.USAGE)
        counted = call("identifier", "counts", "--days", "2", "--json").value
        assert sum(row["claimed"] for row in counted) == 3

        assert call("ban", "add", "network", "198.51.100.0/24", "--operator", "eva", "--json").value["banned"] is True
        assert running.session(client, "carl", "198.51.100.9").status_code == 429
        call("ban", "add", "name", "carl", "--reason", "impostor", "--operator", "eva")
        assert running.session(client, "Carl", "192.0.2.9").status_code == 409
        listed = call("ban", "list").out.splitlines()
        assert "reason" in listed[0].split() and "impostor" in listed[1]
        assert "handle, email, sms" in call("ban", "add", "name", "ann", "--channel", "fax", code=Exit.USAGE).err
        call("ban", "lift", "name", "carl", "--operator", "tom")
        call("ban", "lift", "name", "carl", code=Exit.NOT_FOUND)
        assert running.session(client, "Carl", "192.0.2.9").status_code == 200

    call("identifier", "transfer", "ann", OTHER, "--yes", "--operator", "eva")
    call("identifier", "rename", "ann", "ann2", "--yes", "--operator", "eva")
    shown = call("identifier", "show", "ann2", "--json").value
    assert (shown["claim"]["did"], DID != OTHER) == (OTHER, True)
    call("identifier", "release", "bob", "--yes")
    done = [(row["operator"], row["action"]) for row in call("acts", "--json").value]
    assert done[0][0].startswith("cli:") and done[0][1] == "released"
    assert done[1:] == [
        ("eva", "renamed"), ("eva", "renamed"), ("eva", "transferred"), ("tom", "ban_lifted"), ("eva", "banned"),
        ("eva", "banned"),
    ]  # fmt: skip
