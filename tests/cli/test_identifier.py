"""`holdfast identifier` and `holdfast credential`: showing a registration and revoking one."""

import base64

import pytest
from tests.support.serving import CREDENTIAL, DID

from holdfast.cli.exits import Exit
from holdfast.wire.encoding import from_base64url


def test_show_revoke_and_release_while_the_service_runs(registered, holdfast):
    def call(*words, code=Exit.OK):
        answer = holdfast(*words, data=registered.data)
        assert answer.code == code, answer
        return answer

    value = call("identifier", "show", "ANN", "--json").value
    assert (value["claim"]["did"], value["claim"]["given"], len(value["credentials"])) == (DID, "Ann", 1)
    assert "credentials: 1" in call("identifier", "show", "ann").out
    call("credential", "revoke", "--json", "--", CREDENTIAL, code=Exit.USAGE)  # no one confirmed it
    call("identifier", "release", "ann", code=Exit.USAGE)
    in_the_other_alphabet = base64.b64encode(from_base64url(CREDENTIAL)).decode()
    assert call("credential", "revoke", "--yes", "--json", "--", in_the_other_alphabet).value == {"revoked": True}
    call("credential", "revoke", "--yes", "--", CREDENTIAL, code=Exit.NOT_FOUND)
    assert call("identifier", "release", "ann", "--yes", "--json").value == {"released": True}
    with registered.client() as client:
        assert client.get("/api/dids/lookup", params={"credentialId": CREDENTIAL}).json()["found"] is False
        assert client.get("/api/sessions/check?handle=ann").json()["available"] is True
    call("identifier", "release", "ann", "--yes", code=Exit.NOT_FOUND)


def test_what_can_be_none_is_a_mistake_of_usage_and_what_nobody_holds_is_not_found(holdfast):
    assert holdfast("migrate").code == Exit.OK
    for arguments in (
        ("identifier", "show", "a b"),
        ("identifier", "show", "ann", "--channel", "pigeon"),
        ("identifier", "release", "12", "--channel", "sms", "--yes"),
        ("credential", "revoke", "no base64!", "--yes"),
        ("credential", "revoke", "A" * 5000, "--yes"),
    ):
        answer = holdfast(*arguments, "--json")
        assert answer.code == answer.error["exit"] == Exit.USAGE, arguments
    assert holdfast("identifier", "show", "a@b.example", "--channel", "email").code == Exit.NOT_FOUND
    assert holdfast("identifier", "release", "+14155550100", "--channel", "sms", "--yes").code == Exit.NOT_FOUND
    assert holdfast("credential", "revoke", "AAAA", "--yes", "--json").error["error"] == "no such credential"


@pytest.mark.parametrize(
    "words",
    [("identifier", "show", "ann"), ("identifier", "release", "ann", "--yes"), ("credential", "revoke", "AA", "--yes")],
    ids=" ".join,
)
def test_looking_where_no_database_is_says_so_and_makes_none(holdfast, tmp_path, words):
    answer = holdfast(*words)
    assert answer.code == Exit.NOT_FOUND
    assert f"there is no database at {tmp_path}/data/holdfast.db" in answer.err and "HOLDFAST_DATA_DIR" in answer.err
    assert not (tmp_path / "data").exists()
