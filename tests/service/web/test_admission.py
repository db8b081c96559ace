"""Who may register: closed services and invitations, channels that are off, pages of other origins, signatures by the DID's key."""

import asyncio
import os

import pytest
from tests.support.api import DID, KEY, MAIL, OTHER_DID, PHONE, error_of
from tests.support.vault_tokens import VaultKey

from holdfast.rules.invitations import new_invitation
from holdfast.service.settings.secrets import Secrets

REQUIRED, INVALID = (403, "invitation_required"), (403, "invitation_invalid")
CLOSED = (403, "registration_closed")


@pytest.fixture
def inviting(make_api):
    return make_api(registration="invitation")


def code_of(api, uses=1):
    key = Secrets((KEY,), generated=False).invitation_keys[0]
    return {"Holdfast-Invitation": new_invitation(key, uses, api.clock() + 86_400 * 10, os.urandom)}


async def test_an_invitation_admits_one_person(inviting):
    code = code_of(inviting)
    assert error_of(await inviting.session("ann")) == REQUIRED
    assert error_of(await inviting.session("ann", headers={"Holdfast-Invitation": "AAAA-BBBB"})) == INVALID
    assert (await inviting.session("ann", headers=code)).status_code == 200
    assert error_of(await inviting.session("bob", OTHER_DID, headers=code)) == INVALID
    assert (await inviting.register()).status_code == 200, "the session's DID needs no invitation any more"
    assert (await inviting.register(credentialId="cred-2")).status_code == 200, "nor does another passkey"
    assert error_of(await inviting.register(credentialId="c3", identifier="bob", did=OTHER_DID)) == REQUIRED
    assert (
        await inviting.register(credentialId="c3", identifier="bob", did=OTHER_DID, headers=code_of(inviting))
    ).status_code == 200


async def test_what_is_refused_uses_nothing_up(inviting):
    code, other = code_of(inviting), code_of(inviting)
    assert (await inviting.session("ann", headers=other)).status_code == 200
    assert error_of(await inviting.session("ann", OTHER_DID, headers=code)) == (409, "identifier_taken")
    assert error_of(await inviting.session("admin", OTHER_DID, headers=code)) == (409, "identifier_reserved")
    for name in ("one", "two", "three"):
        assert (await inviting.session(name, ip="192.0.2.1", headers=code_of(inviting))).status_code == 200
    assert error_of(await inviting.session("bob", ip="192.0.2.1", headers=code)) == (429, "ip_limit_reached")
    assert (await inviting.register(headers=code)).status_code == 200, "it continues a session"
    assert (await inviting.session("bob", headers=code)).status_code == 200


async def test_of_parallel_requests_the_allowed_number_is_admitted_and_uses_are_kept_until_the_code_expires(inviting):
    code = code_of(inviting, uses=3)
    answers = await asyncio.gather(*(inviting.session(f"name{n}", headers=code) for n in range(10)))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [403] * 7
    code = code_of(inviting)
    assert (await inviting.session("ann", headers=code)).status_code == 200
    for _ in range(9):
        inviting.clock.now += 86_400
        await inviting.service.store.expire(inviting.clock())
        assert error_of(await inviting.session("bob", OTHER_DID, headers=code)) == INVALID
    inviting.clock.now += 86_400 + 3600
    assert error_of(await inviting.session("bob", OTHER_DID, headers=code)) == INVALID, "expired"


async def test_the_proven_owner_of_an_address_needs_an_invitation_to_displace_a_session(inviting):
    given = {"identifier": MAIL, "channel": "email"}
    assert (await inviting.post("/api/sessions", did=OTHER_DID, headers=code_of(inviting), **given)).status_code == 200
    attestation = await inviting.attested()
    assert error_of(await inviting.register(attestation=attestation, **given)) == REQUIRED
    assert (await inviting.register(attestation=attestation, headers=code_of(inviting), **given)).status_code == 200


async def test_a_closed_service_keeps_whom_it_has(make_api):
    assert (await make_api().session("ann")).status_code == 200
    api = make_api(registration="closed")
    code = code_of(api)
    assert error_of(await api.session("bob", OTHER_DID, headers=code)) == CLOSED
    assert error_of(await api.register(identifier="bob", did=OTHER_DID, headers=code)) == CLOSED
    assert error_of(await api.session("admin")) == (409, "identifier_reserved"), "documented refusals come first"
    assert error_of(await api.session("ann", OTHER_DID)) == (409, "identifier_taken")
    assert (await api.register()).status_code == 200
    assert (await api.register(credentialId="cred-2")).status_code == 200
    assert '<meta name="holdfast-registration" content="closed">' in (await api.http.get("/")).text


VERIFY = (400, 'Invalid channel. Must be "sms" or "email"')
REGISTER = (400, 'Invalid channel. Must be "handle", "email" or "sms"')
NAMES = {"handle": "ann", "email": MAIL, "sms": PHONE}


@pytest.mark.parametrize("off", ["handle", "email", "sms"])
async def test_what_is_switched_off_is_an_unknown_channel(make_api, off):
    api = make_api(channels=",".join(set(NAMES) - {off}))
    given = {"identifier": NAMES[off], "channel": off}
    assert error_of(await api.post("/api/sessions", did=DID, **given)) == REGISTER
    assert error_of(await api.get("/api/sessions/check", **given)) == REGISTER
    assert error_of(await api.register(**given)) == REGISTER
    assert error_of(await api.post("/api/verify/send", **given)) == VERIFY
    assert error_of(await api.post("/api/verify/check", code="1", **given)) == VERIFY
    assert error_of(await api.get("/api/verify/status", **given)) == VERIFY
    assert not api.mailer.sent and not api.sms.sent


async def test_what_is_left_works_and_the_page_names_it(make_api):
    api = make_api(channels="sms, handle")
    assert (await api.session("ann")).status_code == 200
    assert (await api.post("/api/verify/send", identifier=PHONE, channel="sms")).status_code == 200
    page = await api.http.get("/")
    assert '<meta name="holdfast-channels" content="handle sms">' in page.text


ADDRESS = {"public_url": "http://localhost:8787", "related_origins": "https://app.example"}
PAGE = {"Origin": "https://page.example"}
FOREIGN = [
    {"Sec-Fetch-Site": "cross-site", **PAGE},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:9999"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
    PAGE,
    {"Origin": "null"},
]
OWN = [
    {},
    {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8787"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example"},
    {"Origin": "http://localhost:8787"},
]
VISITOR = "192.0.2.9"


@pytest.mark.parametrize("headers", FOREIGN)
async def test_foreign_pages_use_up_nothing_if_they_are_refused(make_api, headers):
    api = make_api(own_pages_only="on", **ADDRESS)
    for number in range(5):
        refused = await api.session(f"name{number}", ip=VISITOR, headers={**headers, "Content-Type": "text/plain"})
        assert (refused.status_code, refused.json()) == (403, {"error": "foreign_page"})
    mail = await api.post("/api/verify/send", identifier=MAIL, channel="email", ip=VISITOR, headers=headers)
    upload = await api.http.put("/routing/v1/ipns/k51", content=b"x", headers=headers)
    assert mail.status_code == upload.status_code == 403 and not api.mailer.sent
    assert (await api.get("/api/sessions/check", handle="ann", headers=headers)).status_code == 200, "they may read"
    assert (await api.session("ann", ip=VISITOR)).status_code == 200, "the visitor may still register"


@pytest.mark.parametrize(("headers", "only"), [*((it, "on") for it in OWN), *((it, "off") for it in (*FOREIGN, *OWN))])
async def test_own_pages_and_programs_are_served_and_unless_set_every_page(make_api, headers, only):
    api = make_api(own_pages_only=only, **ADDRESS)
    assert (await api.session("ann", headers=headers)).status_code == 200


COMMAND = "/dids/register"


@pytest.fixture
def key():
    """The owner's key."""
    return VaultKey()


def signed(api, key, credential, **claims):
    """Return the header with which the key signs the registration of a credential."""
    return key.bearer(api.clock.now, **{"cmd": COMMAND, "args": {"credentialId": credential}, **claims})


async def flood(api, key, prefix="s"):
    """Register a stranger's credentials for the owner's handle until one is refused; return the statuses."""
    posts = [await api.register(did=key.did, credentialId=f"{prefix}{n}", ip="198.51.100.9") for n in range(17)]
    return [answer.status_code for answer in posts]


async def found(api, credential):
    return (await api.get("/api/dids/lookup", credentialId=credential)).json()["found"]


async def test_a_first_registration_cannot_be_stopped(api, key):
    await api.session("ann", did=key.did)
    assert await flood(api, key) == [200] * 7 + [429] * 10
    assert error_of(await api.register(did=key.did, credentialId="own")) == (429, "credential_limit_reached")
    answer = await api.register(did=key.did, credentialId="own", headers=signed(api, key, "own"))
    assert answer.json() == {"ok": True, "identifier": "ann", "channel": "handle", "txHash": "0xabc"}
    assert await found(api, "own")


async def post_with(api, key, headers):
    return await api.register(did=key.did, credentialId="own", headers=headers)


@pytest.mark.parametrize("change", [
    {"cmd": "/snapshots/write"}, {"args": {"credentialId": "other"}}, {"args": {"credentialId": 5}}, {"args": {}},
    {"aud": "did:web:elsewhere.example"}, {"exp": 1_800_000_000 - 1, "iat": ...},
    {"exp": 1_800_000_000 + 7200, "iat": ...}, {"sub": "did:new:0x" + "00" * 32},
])  # fmt: skip
async def test_a_token_for_anything_else_counts_as_none(api, key, change):
    await api.session("ann", did=key.did)
    await flood(api, key)
    refused = await post_with(api, key, signed(api, key, "own", **change))
    assert error_of(refused) == (429, "credential_limit_reached")


async def test_anothers_key_a_revoked_token_and_none_at_all_count_as_none(api, key):
    await api.session("ann", did=key.did)
    await flood(api, key)
    revoked = signed(api, key, "own")
    await api.service.store.snapshots.revoke(key.did, None, api.clock.now, api.clock.now + 900)
    bad = {"Authorization": "Bearer Cxyz"}
    for headers in (signed(api, VaultKey(), "own"), revoked, bad, {"Authorization": "Basic YTpi"}):
        assert error_of(await post_with(api, key, headers)) == (429, "credential_limit_reached")
    answer = await api.register(identifier="bob", did=key.did, credentialId="room", headers=bad)
    assert answer.status_code == 200 and await found(api, "room"), "a token is no obstacle where there is room"


async def test_a_page_of_another_origin_may_send_the_signature(api):
    asked = await api.http.options("/api/dids")
    assert asked.headers["access-control-allow-headers"] == "*, Authorization"
    assert (await api.http.options("/api/sessions")).headers["access-control-allow-headers"] == "*"
