"""`holdfast invitation`: a code that the service accepts, and one that is revoked."""

from tests.support.serving import DID, running_server

from holdfast.cli.exits import Exit


def test_a_code_admits_as_many_as_it_says(holdfast, tmp_path):
    data = tmp_path / "data"
    with running_server(data, tmp_path / "log", registration="invitation") as server, server.client() as client:

        def asked(handle, code):
            body = {"handle": handle, "did": DID}
            return client.post("/api/sessions", json=body, headers={"Holdfast-Invitation": code})

        given = holdfast("invitation", "new", "--uses", "2", "--json", public_url="http://localhost:8787").value
        code = given["code"]
        number = given.pop("number")
        assert given == {"code": code, "address": f"http://localhost:8787/?invitation={code}", "uses": 2, "days": 14}
        assert holdfast("invitation", "new").out.splitlines()[0] != code
        assert asked("ann", code).status_code == 200
        assert holdfast("invitation", "revoke", code.lower()).out == "revoked; it would have admitted 1 more\n"
        assert asked("bob", code).json() == {"error": "invitation_invalid"}
        assert holdfast("invitation", "revoke", code, "--json").value["left"] == 0
        other = holdfast("invitation", "new", "--uses", "3", "--operator", "eva", "--json").value["code"]
        assert asked("carl", other).status_code == 200
        again = holdfast("invitation", "reissue", other, "--operator", "eva", "--json").value
        assert (again["uses"], asked("dan", other).status_code) == (2, 403)
        assert asked("dan", again["code"]).status_code == 200
        listed = {row["number"]: row["left"] for row in holdfast("invitation", "list", "--json").value}
        assert (len(listed), listed[number], listed[again["number"]]) == (4, 0, 1)
        acts = [(act["operator"], act["action"]) for act in holdfast("acts", "--json").value]
        assert acts[:3] == [("eva", "invited"), ("eva", "invitation_revoked"), ("eva", "invited")]
    assert holdfast("invitation", "revoke", "AAAA").code == Exit.NOT_FOUND


def test_numbers_out_of_range_are_refused(holdfast):
    for option, number in (("--uses", "0"), ("--uses", "1001"), ("--days", "0"), ("--days", "367")):
        assert holdfast("invitation", "new", option, number).code == Exit.USAGE
