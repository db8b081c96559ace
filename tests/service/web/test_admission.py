"""HOLDFAST_REGISTRATION in both stores: who may register, with which invitation, and how often."""

import asyncio
import os

import pytest
from tests.support.api import KEY, MAIL, OTHER_DID, error_of

from holdfast.rules.invitations import new_invitation
from holdfast.service.settings.secrets import Secrets
from holdfast.settings.shared import default_url

REQUIRED, INVALID = (403, "invitation_required"), (403, "invitation_invalid")
CLOSED = (403, "registration_closed")


@pytest.fixture(params=["sqlite", "postgresql"])
def made(make_api, request, tmp_path, patient_stores):
    url = default_url(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return lambda mode: make_api(registration=mode, database_url=url)


@pytest.fixture
def api(made):
    return made("invitation")


def code_of(api, uses=1):
    key = Secrets((KEY,), generated=False).invitation_keys[0]
    return {"Holdfast-Invitation": new_invitation(key, uses, api.clock() + 86_400 * 10, os.urandom)}


async def test_an_invitation_admits_one_person(api):
    code = code_of(api)
    assert error_of(await api.session("ann")) == REQUIRED
    assert error_of(await api.session("ann", headers={"Holdfast-Invitation": "AAAA-BBBB"})) == INVALID
    assert (await api.session("ann", headers=code)).status_code == 200
    assert error_of(await api.session("bob", OTHER_DID, headers=code)) == INVALID
    assert (await api.register()).status_code == 200, "the session's DID needs no invitation any more"
    assert (await api.register(credentialId="cred-2")).status_code == 200, "nor does another passkey"
    assert error_of(await api.register(credentialId="c3", identifier="bob", did=OTHER_DID)) == REQUIRED
    assert (
        await api.register(credentialId="c3", identifier="bob", did=OTHER_DID, headers=code_of(api))
    ).status_code == 200


async def test_what_is_refused_uses_nothing_up(api):
    code, other = code_of(api), code_of(api)
    assert (await api.session("ann", headers=other)).status_code == 200
    assert error_of(await api.session("ann", OTHER_DID, headers=code)) == (409, "identifier_taken")
    assert error_of(await api.session("admin", OTHER_DID, headers=code)) == (409, "identifier_reserved")
    for name in ("one", "two", "three"):
        assert (await api.session(name, ip="192.0.2.1", headers=code_of(api))).status_code == 200
    assert error_of(await api.session("bob", ip="192.0.2.1", headers=code)) == (429, "ip_limit_reached")
    assert (await api.register(headers=code)).status_code == 200, "it continues a session"
    assert (await api.session("bob", headers=code)).status_code == 200


async def test_documented_refusals_come_first(made):
    assert error_of(await made("closed").session("admin")) == (409, "identifier_reserved")
    api = made("invitation")
    assert (await api.session("ann", headers=code_of(api))).status_code == 200
    assert error_of(await api.session("ann", OTHER_DID)) == (409, "identifier_taken")


async def test_of_parallel_requests_exactly_the_allowed_number_is_admitted(api):
    code = code_of(api, uses=3)
    answers = await asyncio.gather(*(api.session(f"name{n}", headers=code) for n in range(10)))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [403] * 7


async def test_uses_are_kept_until_the_code_expires(api):
    code = code_of(api)
    assert (await api.session("ann", headers=code)).status_code == 200
    for _ in range(9):
        api.clock.now += 86_400
        await api.service.store.expire(api.clock())
        assert error_of(await api.session("bob", OTHER_DID, headers=code)) == INVALID
    api.clock.now += 86_400 + 3600
    assert error_of(await api.session("bob", OTHER_DID, headers=code)) == INVALID, "expired"


async def test_the_proven_owner_of_an_address_needs_an_invitation_to_displace_a_session(api):
    given = {"identifier": MAIL, "channel": "email"}
    assert (await api.post("/api/sessions", did=OTHER_DID, headers=code_of(api), **given)).status_code == 200
    attestation = await api.attested()
    assert error_of(await api.register(attestation=attestation, **given)) == REQUIRED
    assert (await api.register(attestation=attestation, headers=code_of(api), **given)).status_code == 200


async def test_a_closed_service_keeps_whom_it_has(made):
    assert (await made("open").session("ann")).status_code == 200
    api = made("closed")
    code = code_of(api)
    assert error_of(await api.session("bob", OTHER_DID, headers=code)) == CLOSED
    assert error_of(await api.register(identifier="bob", did=OTHER_DID, headers=code)) == CLOSED
    assert (await api.register()).status_code == 200
    assert (await api.register(credentialId="cred-2")).status_code == 200
    assert '<meta name="holdfast-registration" content="closed">' in (await api.http.get("/")).text
