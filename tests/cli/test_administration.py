"""Operators list, count, ban, transfer and rename while the service runs; each act names who did it."""

import csv
import io
import os

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
    """tests/service/store and tests/service/web have the variants of each task."""
    running = serve()

    def call(*words, code=Exit.OK):
        answer = holdfast(*words, data=running.data)
        assert answer.code == code, answer
        return answer

    with running.client() as client:
        for n, name in enumerate(("ann", "anne", "bob")):
            assert running.session(client, name, f"192.0.2.{n}").status_code == 200
        page = call("identifier", "list", "--limit", "2", "--json").value
        rest = call("identifier", "list", "--after", page["after"], "--json").value
        listed = [row["identifier"] for row in (*page["identifiers"], *rest["identifiers"])]
        assert (listed, rest["after"]) == (["bob", "anne", "ann"], None)
        assert "ip" not in rest["identifiers"][0], "the hash of an address is nobody's to read"
        found = call("identifier", "list", "--prefix", "AN", "--state", "session", "--csv").out
        assert [row["identifier"] for row in csv.DictReader(io.StringIO(found))] == ["ann", "anne"]
        assert "anne" in call("identifier", "list", "--address", "192.0.2.1").out
        call("identifier", "list", "--day", "yesterday", code=Exit.USAGE)
        counted = call("identifier", "counts", "--days", "2", "--json").value
        assert sum(row["claimed"] for row in counted) == 3
        assert call("ban", "add", "network", "198.51.100.0/24", "--operator", "eva", "--json").value["banned"] is True
        call("ban", "add", "name", "carl", "--reason", "impostor", "--operator", "eva")
        for name, address, status in (("dora", "198.51.100.9", 429), ("Carl", "192.0.2.9", 409)):
            assert running.session(client, name, address).status_code == status
        assert "impostor" in call("ban", "list").out
        call("ban", "add", "name", "ann", "--channel", "fax", code=Exit.USAGE)
        call("ban", "lift", "name", "carl", "--operator", "tom")
        call("ban", "lift", "name", "carl", code=Exit.NOT_FOUND)
    call("identifier", "transfer", "ann", OTHER, "--yes", "--operator", "eva")
    call("identifier", "rename", "ann", "ann2", "--yes", "--operator", "eva")
    assert call("identifier", "show", "ann2", "--json").value["claim"]["did"] == OTHER
    call("identifier", "release", "bob", "--yes")
    by_us, *done = [(row["operator"], row["action"]) for row in call("acts", "--json").value]
    assert by_us[0].startswith("cli:") and by_us[1] == "released"
    actions = ("renamed", "renamed", "transferred", "ban_lifted", "banned", "banned")
    assert done == [("tom" if action == "ban_lifted" else "eva", action) for action in actions]
