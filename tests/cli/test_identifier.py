"""`holdfast identifier` and `holdfast credential`: showing a registration and revoking one."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from tests.support.serving import DID

from holdfast.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.operator import Answer
    from tests.support.serving import Server

CREDENTIAL = base64.urlsafe_b64encode(bytes(range(200, 232))).decode().rstrip("=")


@pytest.fixture
def registered(serve: Callable[..., Server]) -> Server:
    """A service on which `ann` is registered with one credential."""
    running = serve()
    with running.client() as client:
        assert running.session(client, "Ann", "192.0.2.1").status_code == 200
        body = {
            "credentialId": CREDENTIAL,
            "did": DID,
            "identifier": "Ann",
            "channel": "handle",
            "txHash": "0x" + "ab" * 32,
        }
        answer = client.post("/api/dids", json=body)
        assert answer.status_code in {200, 201}, answer.text
    return running


def test_show_tells_everything_that_is_kept(registered: Server, holdfast: Callable[..., Answer]) -> None:
    value = holdfast("identifier", "show", "ANN", "--json", data=registered.data).value
    assert value["claim"]["did"] == DID
    assert value["claim"]["given"] == "Ann"
    assert len(value["credentials"]) == 1
    text = holdfast("identifier", "show", "ann", data=registered.data)
    assert text.code == Exit.OK
    assert DID in text.out
    assert "credentials: 1" in text.out


def test_release_frees_it_at_once_while_the_service_runs(registered: Server, holdfast: Callable[..., Answer]) -> None:
    assert holdfast("identifier", "release", "ann", data=registered.data).code == Exit.USAGE  # no one confirmed it
    answer = holdfast("identifier", "release", "ann", "--yes", "--json", data=registered.data)
    assert (answer.code, answer.value) == (Exit.OK, {"released": True})
    with registered.client() as client:
        assert client.get("/api/sessions/check?handle=ann").json()["available"] is True
    left = holdfast("identifier", "show", "ann", "--json", data=registered.data).value
    assert left["claim"] is None
    assert left["history"]
    assert holdfast("identifier", "release", "ann", "--yes", data=registered.data).code == Exit.NOT_FOUND


@pytest.mark.parametrize("form", ["base64url", "base64"])
def test_a_credential_is_revoked_in_either_alphabet(
    registered: Server, holdfast: Callable[..., Answer], form: str
) -> None:
    written = CREDENTIAL if form == "base64url" else base64.b64encode(bytes(range(200, 232))).decode()
    assert holdfast("credential", "revoke", "--json", "--", written, data=registered.data).code == Exit.USAGE
    answer = holdfast("credential", "revoke", "--yes", "--json", "--", written, data=registered.data)
    assert (answer.code, answer.value) == (Exit.OK, {"revoked": True})
    with registered.client() as client:
        assert client.get("/api/dids/lookup", params={"credentialId": CREDENTIAL}).json()["found"] is False
    assert holdfast("credential", "revoke", "--yes", "--", written, data=registered.data).code == Exit.NOT_FOUND


def test_what_can_be_none_is_a_mistake_of_usage(holdfast: Callable[..., Answer]) -> None:
    assert holdfast("migrate").code == Exit.OK
    for arguments in (
        ("identifier", "show", ""),
        ("identifier", "show", "a b"),
        ("identifier", "show", "ann", "--channel", "pigeon"),
        ("identifier", "show", "ann", "--channel", "email"),
        ("identifier", "release", "12", "--channel", "sms", "--yes"),
        ("credential", "revoke", "", "--yes"),
        ("credential", "revoke", "no base64!", "--yes"),
        ("credential", "revoke", "A" * 5000, "--yes"),
    ):
        answer = holdfast(*arguments, "--json")
        assert answer.code == Exit.USAGE, arguments
        assert answer.error["exit"] == Exit.USAGE


@pytest.mark.parametrize(
    "words",
    [("identifier", "show", "ann"), ("identifier", "release", "ann", "--yes"), ("credential", "revoke", "AA", "--yes")],
    ids=" ".join,
)
def test_looking_where_no_database_is_says_so_and_makes_none(
    holdfast: Callable[..., Answer], tmp_path: Path, words: tuple[str, ...]
) -> None:
    answer = holdfast(*words)
    assert answer.code == Exit.NOT_FOUND
    assert f"there is no database at {tmp_path}/data/holdfast.db" in answer.err and "HOLDFAST_DATA_DIR" in answer.err
    assert not (tmp_path / "data").exists()


def test_what_nobody_holds_exits_5(holdfast: Callable[..., Answer]) -> None:
    assert "opened" in holdfast("check").out  # creates the database
    assert holdfast("identifier", "show", "a@b.example", "--channel", "email").code == Exit.NOT_FOUND
    assert holdfast("identifier", "release", "+14155550100", "--channel", "sms", "--yes").code == Exit.NOT_FOUND
    assert holdfast("credential", "revoke", "AAAA", "--yes", "--json").error["error"] == "no such credential"
