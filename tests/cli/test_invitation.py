"""`holdfast invitation`: a code that the service accepts, and one that is revoked."""

import csv
import io
import subprocess
import sys

import pytest
from tests.support.serving import DID, environment_of, running_server

from holdfast.cli.exits import Exit


def test_a_code_admits_as_many_as_it_says(holdfast, tmp_path):
    data = tmp_path / "data"
    with running_server(data, tmp_path / "log", registration="invitation") as server, server.client() as client:

        def asked(handle, code):
            body = {"handle": handle, "did": DID}
            return client.post("/api/sessions", json=body, headers={"Holdfast-Invitation": code}).status_code

        given = holdfast("invitation", "new", "--uses", "2", "--json", public_url="http://localhost:8787").value
        code, number = given["code"], given.pop("number")
        assert given == {"code": code, "address": f"http://localhost:8787/?invitation={code}", "uses": 2, "days": 14}
        assert holdfast("invitation", "new").out.splitlines()[0] != code
        assert asked("ann", code) == 200
        assert holdfast("invitation", "revoke", code.lower()).out == "revoked; it would have admitted 1 more\n"
        assert asked("bob", code) == 403
        assert holdfast("invitation", "revoke", code, "--json").value["left"] == 0
        other = holdfast("invitation", "new", "--uses", "3", "--operator", "eva", "--json").value["code"]
        assert asked("carl", other) == 200
        again = holdfast("invitation", "reissue", other, "--operator", "eva", "--json").value
        assert (again["uses"], asked("dan", other), asked("dan", again["code"])) == (2, 403, 200)
        listed = {row["number"]: row["left"] for row in holdfast("invitation", "list", "--json").value}
        assert (len(listed), listed[number], listed[again["number"]]) == (4, 0, 1)
        acts = [(act["operator"], act["action"]) for act in holdfast("acts", "--json").value]
        assert acts[:3] == [("eva", "invited"), ("eva", "invitation_revoked"), ("eva", "invited")]
    assert holdfast("invitation", "revoke", "AAAA").code == Exit.NOT_FOUND
    for option, number in (("--uses", "0"), ("--uses", "1001"), ("--days", "0"), ("--days", "367")):
        assert holdfast("invitation", "new", option, number).code == Exit.USAGE


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_each_person_of_a_file_gets_a_code(holdfast, tmp_path, delimiter):
    """As an operator of another system invites its people: a column more or less, names in any script."""
    data, people = tmp_path / "data", tmp_path / "people.csv"
    rows = (("mail", "name"), ("ann@example.org", f'"Ann{delimiter} Aa"'), ("zoe@example.org", "Zoë"))
    people.write_text("\ufeff" + "".join(delimiter.join(row) + "\r\n" for row in rows), "utf-8")
    with running_server(data, tmp_path / "log", registration="invitation") as server, server.client() as client:
        out = holdfast("invitation", "each", str(people), "--operator", "eva", public_url="http://localhost:8787").out
        (ann, zoe) = csv.DictReader(io.StringIO(out), delimiter=delimiter)
        assert [*ann] == ["mail", "name", "invitation", "address"]
        assert [(row["mail"], row["name"]) for row in (ann, zoe)] == [
            ("ann@example.org", f"Ann{delimiter} Aa"),
            ("zoe@example.org", "Zoë"),
        ]
        for row, handle, status in ((ann, "ann", 200), (zoe, "zoe", 200), (ann, "eve", 403)):
            body, code = {"handle": handle, "did": DID}, row["invitation"]
            assert row["address"].endswith(f"/?invitation={code}")
            answer = client.post("/api/sessions", json=body, headers={"Holdfast-Invitation": code})
            assert answer.status_code == status
        assert len(holdfast("invitation", "list", "--json").value) == 2
        listed = holdfast("invitation", "each", str(people), "--json").value
        assert all(row["address"].endswith(row["invitation"]) for row in listed)


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["CSV", "JSON"])
def test_a_command_that_is_killed_has_shown_the_codes_that_it_made(holdfast, tmp_path, as_json):
    """Each row is longer than what a pipe holds unread, so that only a command that shows codes late makes more."""
    with running_server(tmp_path / "data", tmp_path / "log", registration="invitation"):
        pass
    people = tmp_path / "people.csv"
    people.write_text("name\n" + f"{'x' * 120_000}\n" * 5)
    command = [sys.executable, "-m", "holdfast", "invitation", "each", str(people), *as_json]
    with subprocess.Popen(command, env=environment_of(tmp_path / "data"), stdout=subprocess.PIPE) as running:
        begun = running.stdout.read(1)
        running.kill()
    assert begun and len(holdfast("invitation", "list", "--json").value) <= 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mail\n", "it needs rows"),
        ("mail\n\nc\na,b\n", "row 2 has another number of columns"),
        ("mail,address\na,b\n", "`address` are added: rename"),
        ("name,name\na,b\n", "two columns have the same name: rename one"),
        ('mail\n"a\n', "is not CSV"),
    ],
)
def test_a_file_that_is_no_table_makes_no_code(holdfast, tmp_path, text, why):
    (tmp_path / "people.csv").write_text(text)
    answer = holdfast("invitation", "each", str(tmp_path / "people.csv"))
    assert answer.code == Exit.USAGE and "people.csv" in answer.err and why in answer.err
