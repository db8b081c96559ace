"""POST /api/sessions, GET /api/sessions/check, GET /api/sessions/status; no address of a client is stored."""

import pytest
from tests.support.api import DID, KEY, MAIL, OTHER_DID, error_of

from holdfast.service.settings.secrets import Secrets

MISSING = (400, "Missing required fields: identifier, channel, did")


async def test_a_session_echoes_what_was_sent_and_a_field_of_another_type_is_missing(api):
    assert (await api.session("Ann")).json() == {"ok": True, "identifier": "Ann", "channel": "handle", "did": DID}
    answer = await api.post("/api/sessions", identifier="Ann@Example.com", channel="email", did=DID)
    assert answer.json() == {"ok": True, "identifier": "Ann@Example.com", "channel": "email", "did": DID}
    for more in (
        {"did": None}, {"channel": None}, {"channel": ["handle"]}, {"identifier": 7}, {"identifier": ""},
        {"handle": "ann", "channel": None},
    ):  # fmt: skip
        body = {"identifier": "ann", "channel": "handle", "did": DID, **more}
        assert error_of(await api.post("/api/sessions", **body)) == MISSING, more
    for raw in (b"", b"[]", b'"x"', b"{", b"\xff\xfe", b"null", b'{"handle":"\\ud800","did":"did:a:b"}', b"[" * 30_000):
        assert error_of(await api.http.post("/api/sessions", content=raw)) == MISSING, raw[:40]
    answer = await api.post("/api/sessions", identifier="a b", channel="fax", did="no did")
    assert error_of(answer) == (400, 'Invalid channel. Must be "handle", "email" or "sms"'), "before the identifier"


async def test_a_handle_that_became_reserved_stays_its_dids(make_api, tmp_path):
    """To its DID it is taken, as before, and the DID adds passkeys to it; to others it is reserved."""
    names = tmp_path / "reserved.txt"
    names.touch()
    api = make_api(reserved_file=str(names))
    await api.session("ann")
    names.write_text("ann\n")
    assert api.service.reserved.refresh(force=True)
    assert error_of(await api.session("ANN")) == (409, "identifier_taken")
    assert error_of(await api.session("ann", OTHER_DID)) == (409, "identifier_reserved")
    assert (await api.register()).status_code == 200
    refused = await api.register(credentialId="cred-2", did=OTHER_DID)
    assert error_of(refused) == (409, "identifier_taken")


async def test_an_address_has_three_registrations_for_life(api):
    """The checks come in the documented order."""
    for name in ("a1", "a2", "a3"):
        assert (await api.session(name, ip="192.0.2.1")).status_code == 200
    api.clock.now += 10 * 365 * 86400
    assert error_of(await api.session("admin", ip="192.0.2.1")) == (409, "identifier_reserved")
    assert error_of(await api.session("a1", ip="192.0.2.1")) == (409, "identifier_taken")
    refused = await api.session("a4", ip="192.0.2.1")
    assert error_of(refused) == (429, "ip_limit_reached")
    assert refused.headers["retry-after"] == "86400"
    assert (await api.session("a4", ip="192.0.2.2")).status_code == 200


async def test_a_refused_session_changes_nothing(api, make_api):
    await api.session("ann", ip="192.0.2.1")
    await api.session("ann", OTHER_DID, ip="192.0.2.1")
    await api.session("admin", ip="192.0.2.1")
    await api.session("bob", ip="192.0.2.2")
    counters = (await api.get("/api/sessions/status", ip="192.0.2.1")).json()
    assert counters == {"ip_registrations": 1, "ip_limit": 3, "total_registrations": 2}
    one = make_api(MAX_REGISTRATIONS_PER_IP="1")
    assert error_of(await one.session("a2", ip="192.0.2.1")) == (429, "ip_limit_reached")
    shown = (await one.get("/api/sessions/status", ip="192.0.2.1")).json()
    assert shown["ip_limit"] == 1, "the one in force"


async def test_check_says_available_taken_or_reserved_in_a_channel(api):
    path = "/api/sessions/check"
    reserved = {"available": False, "reason": "reserved", "message": "This name is reserved."}
    await api.session("ann")
    await api.post("/api/sessions", identifier="ann@example.com", channel="email", did=DID)
    assert (await api.get(path, identifier="bob")).json() == {"available": True, "reason": None}
    assert (await api.get(path, handle="ANN")).json() == {"available": False, "reason": "taken"}
    assert (await api.get(path, identifier="root")).json() == reserved
    assert (await api.get(path, identifier="ANN@example.com", channel="email")).json()["reason"] == "taken"
    assert (await api.get(path, identifier="ann@example.com")).json() == reserved, "as a handle"
    refused = await api.post("/api/sessions", identifier="ann@example.com", channel="handle", did=DID)
    assert error_of(refused) == (409, "identifier_reserved")
    assert error_of(await api.get(path, identifier="ann", channel="x"))[1].startswith("Invalid channel.")


@pytest.mark.parametrize(("ip", "traces"), [("203.0.113.7", ["203.0.113"]), ("2001:db8:1:2::9", ["2001:db8", "db8:1"])])
async def test_no_row_contains_the_address(api, ip, traces):
    await api.session(ip=ip)
    await api.post("/api/verify/send", identifier=MAIL, channel="email", ip=ip)
    await api.post("/api/verify/check", identifier=MAIL, channel="email", code="000000", ip=ip)
    await api.register(identifier="ann", ip=ip)
    rows = [str(row) for row in api.rows()]
    assert any("ip_counters" in row for row in rows) and any("charges" in row or "windows" in row for row in rows)
    assert not [row for row in rows for trace in traces if trace in row]


NEW = b"another signing key of 32 bytes or more"


async def counted(api):
    return (await api.get("/api/sessions/status", ip="203.0.113.7")).json()["ip_registrations"]


async def test_the_count_of_an_address_lasts_as_long_as_the_first_key(make_api):
    api = make_api()
    await api.session(ip="203.0.113.7")
    assert await counted(api) == 1
    assert await counted(make_api(secrets=Secrets((KEY, NEW), generated=False))) == 1
    assert await counted(make_api(secrets=Secrets((NEW, KEY), generated=False))) == 0
