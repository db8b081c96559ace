"""POST /api/sessions, GET /api/sessions/check, GET /api/sessions/status."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.support.api import DID, OTHER_DID, Api, error_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MISSING = (400, "Missing required fields: identifier, channel, did")


async def test_a_handle_alone_means_the_channel_handle(api: Api) -> None:
    answer = await api.session("Ann")
    assert answer.status_code == 200
    assert answer.json() == {"ok": True, "identifier": "Ann", "channel": "handle", "did": DID}


async def test_identifier_and_channel_are_echoed_as_sent(api: Api) -> None:
    answer = await api.post("/api/sessions", identifier="Ann@Example.com", channel="email", did=DID)
    assert answer.json() == {"ok": True, "identifier": "Ann@Example.com", "channel": "email", "did": DID}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"identifier": "ann", "did": DID},
        {"identifier": "ann", "channel": "handle"},
        {"channel": "handle", "did": DID},
        {"identifier": "ann", "handle": "ann", "did": DID},
        {"identifier": 7, "channel": "handle", "did": DID},
        {"identifier": "ann", "channel": ["handle"], "did": DID},
        {"identifier": "ann", "channel": "handle", "did": None},
        {"identifier": "", "channel": "handle", "did": DID},
    ],
)
async def test_a_field_that_is_missing_or_of_another_type_is_missing(api: Api, body: dict[str, object]) -> None:
    assert error_of(await api.post("/api/sessions", **body)) == MISSING


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b'"x"', b"{", b"\xff\xfe", b"null", b'{"handle":"\\ud800","did":"did:a:b"}', b"[" * 30_000]
)
async def test_a_body_that_is_no_json_object_has_no_fields(api: Api, raw: bytes) -> None:
    assert error_of(await api.http.post("/api/sessions", content=raw)) == MISSING


@pytest.mark.parametrize("identifier", ["a b", "a\u202eb", "a\u0000", "x" * 65, " ", "a\tb", "ab\u2066"])
async def test_a_handle_that_cannot_be_one_is_refused(api: Api, identifier: str) -> None:
    assert error_of(await api.session(identifier)) == (400, "Invalid identifier")


@pytest.mark.parametrize("did", ["did", "did:New:x", "did:new:", "did:new:a b", "nothing", "did:new:" + "a" * 505])
async def test_a_did_without_the_syntax_of_one_is_refused(api: Api, did: str) -> None:
    assert error_of(await api.session("ann", did)) == (400, "Invalid did")


async def test_an_unknown_channel_is_refused_before_the_identifier(api: Api) -> None:
    answer = await api.post("/api/sessions", identifier="a b", channel="fax", did="no did")
    assert error_of(answer) == (400, 'Invalid channel. Must be "handle", "email" or "sms"')


@pytest.mark.parametrize("name", ["admin", "ADMIN", "Postmaster", "adrnin", "r00t", "\uff41dmin", "\u0430dmin"])
async def test_reserved_names_and_their_look_alikes_are_refused(api: Api, name: str) -> None:
    assert error_of(await api.session(name)) == (409, "identifier_reserved")


async def test_a_handle_that_became_reserved_stays_its_dids(make_api: Callable[..., Api], tmp_path: Path) -> None:
    """To its DID it is taken, as before, and the DID adds passkeys to it; to others it is reserved."""
    names = tmp_path / "reserved.txt"
    names.touch()
    api = make_api(reserved_file=str(names))
    await api.session("ann")
    names.write_text("ann\n")
    assert api.service.reserved.refresh()
    assert error_of(await api.session("ANN")) == (409, "identifier_taken")
    assert error_of(await api.session("ann", OTHER_DID)) == (409, "identifier_reserved")
    assert (await api.register()).status_code == 200
    refused = await api.register(credentialId="cred-2", did=OTHER_DID)
    assert error_of(refused) == (409, "identifier_taken")


async def test_only_handles_are_reserved(api: Api) -> None:
    answer = await api.post("/api/sessions", identifier="admin@example.com", channel="email", did=DID)
    assert answer.status_code == 200


@pytest.mark.parametrize("again", ["ann", "ANN", "\uff41nn"])
async def test_another_spelling_of_a_taken_handle_is_taken(api: Api, again: str) -> None:
    await api.session("ann")
    assert error_of(await api.session(again, OTHER_DID)) == (409, "identifier_taken")


async def test_one_name_on_two_channels_is_two_identifiers(api: Api) -> None:
    await api.session("ann@example.com")
    answer = await api.post("/api/sessions", identifier="ann@example.com", channel="email", did=DID)
    assert answer.status_code == 200


async def test_an_address_has_three_registrations_for_life(api: Api) -> None:
    for name in ("a1", "a2", "a3"):
        assert (await api.session(name, ip="192.0.2.1")).status_code == 200
    api.clock.now += 10 * 365 * 86400
    refused = await api.session("a4", ip="192.0.2.1")
    assert error_of(refused) == (429, "ip_limit_reached")
    assert refused.headers["retry-after"] == "86400"
    assert (await api.session("a4", ip="192.0.2.2")).status_code == 200


async def test_the_checks_come_in_the_documented_order(api: Api) -> None:
    for name in ("a1", "a2", "a3"):
        await api.session(name, ip="192.0.2.1")
    assert error_of(await api.session("admin", ip="192.0.2.1"))[1] == "identifier_reserved"
    assert error_of(await api.session("a1", ip="192.0.2.1"))[1] == "identifier_taken"
    assert error_of(await api.session("a9", ip="192.0.2.1"))[1] == "ip_limit_reached"


async def test_a_refused_session_changes_nothing(api: Api) -> None:
    await api.session("ann", ip="192.0.2.1")
    await api.session("ann", OTHER_DID, ip="192.0.2.1")
    await api.session("admin", ip="192.0.2.1")
    counters = (await api.get("/api/sessions/status", ip="192.0.2.1")).json()
    assert counters == {"ip_registrations": 1, "ip_limit": 3, "total_registrations": 1}


async def test_counters_are_per_address_and_in_all(api: Api) -> None:
    await api.session("a1", ip="192.0.2.1")
    await api.session("a2", ip="192.0.2.2")
    counters = (await api.get("/api/sessions/status", ip="192.0.2.2")).json()
    assert counters == {"ip_registrations": 1, "ip_limit": 3, "total_registrations": 2}


async def test_the_shown_limit_is_the_one_in_force(make_api) -> None:
    api = make_api(MAX_REGISTRATIONS_PER_IP="1")
    await api.session("a1", ip="192.0.2.1")
    assert error_of(await api.session("a2", ip="192.0.2.1")) == (429, "ip_limit_reached")
    assert (await api.get("/api/sessions/status", ip="192.0.2.1")).json()["ip_limit"] == 1


async def test_ipv6_addresses_count_by_their_64(api: Api) -> None:
    for number in range(3):
        assert (await api.session(f"a{number}", ip=f"2001:db8:0:1::{number}")).status_code == 200
    assert error_of(await api.session("b1", ip="2001:db8:0:1:ffff::1"))[1] == "ip_limit_reached"
    assert (await api.session("b2", ip="2001:db8:0:2::1")).status_code == 200


async def test_of_parallel_requests_for_one_name_one_wins(api: Api) -> None:
    answers = await asyncio.gather(*(api.session("ann", did=f"did:new:{n}") for n in range(40)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 39


async def test_of_parallel_requests_from_one_address_three_win(api: Api) -> None:
    answers = await asyncio.gather(*(api.session(f"n{n}", ip="192.0.2.9") for n in range(40)))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [429] * 37


async def test_check_says_available_taken_or_reserved(api: Api) -> None:
    await api.session("ann")
    path = "/api/sessions/check"
    assert (await api.get(path, identifier="bob")).json() == {"available": True, "reason": None}
    assert (await api.get(path, handle="ANN")).json() == {"available": False, "reason": "taken"}
    assert (await api.get(path, identifier="root")).json() == {
        "available": False, "reason": "reserved", "message": "This name is reserved.",
    }  # fmt: skip


async def test_check_takes_a_channel(api: Api) -> None:
    await api.post("/api/sessions", identifier="ann@example.com", channel="email", did=DID)
    path = "/api/sessions/check"
    assert (await api.get(path, identifier="ANN@example.com", channel="email")).json()["reason"] == "taken"
    reserved = {"available": False, "reason": "reserved", "message": "This name is reserved."}
    assert (await api.get(path, identifier="ann@example.com")).json() == reserved, "as a handle"
    refused = await api.post("/api/sessions", identifier="ann@example.com", channel="handle", did=DID)
    assert error_of(refused) == (409, "identifier_reserved")
    assert error_of(await api.get(path, identifier="ann", channel="x"))[1].startswith("Invalid channel.")


async def test_check_needs_an_identifier(api: Api) -> None:
    assert error_of(await api.get("/api/sessions/check")) == (400, "Missing query parameter: identifier")
    assert error_of(await api.http.get("/api/sessions/check?identifier=")) == (
        400,
        "Missing query parameter: identifier",
    )
    assert error_of(await api.get("/api/sessions/check", identifier="a b")) == (400, "Invalid identifier")
