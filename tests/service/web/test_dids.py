"""POST /api/dids, GET /api/dids/lookup, GET /api/aliases/check."""

import asyncio

import pytest
from tests.support.api import DID, KEY, MAIL, OTHER_DID, error_of

from holdfast.rules.attestations import sign
from holdfast.rules.registration import Confirmation
from holdfast.service.settings.secrets import Secrets

MISSING = (400, "Missing required fields: credentialId, identifier, channel, did, txHash")


async def test_a_handle_is_registered_after_its_session(api):
    await api.session("Ann")
    answer = await api.register(identifier="Ann", blockNumber=7, smartAccount="0x" + "ab" * 20)
    assert answer.json() == {"ok": True, "identifier": "Ann", "channel": "handle", "txHash": "0xabc"}
    found = (await api.get("/api/dids/lookup", credentialId="cred-1")).json()
    assert found == {
        "found": True, "identifier": "Ann", "channel": "handle", "did": DID, "txHash": "0xabc", "blockNumber": 7,
        "smartAccount": "0x" + "ab" * 20, "createdAt": "2027-01-15T08:00:00.000Z",
    }  # fmt: skip


async def test_every_required_field_is_required_and_the_identifier_has_three_names(api):
    for field in ("credentialId", "identifier", "channel", "did", "txHash"):
        for value in (None, "", 5, {}, ["x"]):
            assert error_of(await api.register(**{field: value})) == MISSING, (field, value)
    for name in ("identifier", "handle", "name"):
        body = {"credentialId": name, "channel": "handle", "did": DID, "txHash": "0x1", name: "ann"}
        assert (await api.post("/api/dids", **body)).json()["identifier"] == "ann"


async def test_bad_form_gets_its_sentence_and_what_is_optional_counts_as_absent(api):
    for fields, message in (
        ({"channel": "fax"}, 'Invalid channel. Must be "handle", "email" or "sms"'), ({"identifier": "a b"}, "Invalid identifier"),
        ({"did": "none"}, "Invalid did"), ({"credentialId": "c" * 1367}, "Invalid credentialId"),
        ({"credentialId": "c d"}, "Invalid credentialId"), ({"credentialId": "=="}, "Invalid credentialId"),
        ({"txHash": "0" * 129}, "Invalid txHash"), ({"txHash": "a\nb"}, "Invalid txHash"),
    ):  # fmt: skip
        assert error_of(await api.register(**fields)) == (400, message)
    assert (await api.get("/api/sessions/status")).json()["total_registrations"] == 0
    odd = ({"blockNumber": "7"}, {"blockNumber": -1}, {"blockNumber": True}, {"blockNumber": 2**70}, {"smartAccount": 5}, {"smartAccount": "0xabc"})  # fmt: skip
    for number, fields in enumerate(odd):
        assert (await api.register(credentialId=f"c{number}", **fields)).status_code == 200
        found = (await api.get("/api/dids/lookup", credentialId=f"c{number}")).json()
        assert found["blockNumber"] is None and found["smartAccount"] is None


async def test_one_credential_registers_once_in_whatever_base64(api):
    assert (await api.register(credentialId="c" * 1366, txHash="t" * 128)).status_code == 200, "the greatest lengths"
    assert (await api.register(credentialId="ab+/cd==")).status_code == 200
    answer = await api.register(credentialId="ab-_cd", identifier="bob")
    assert error_of(answer) == (409, "credential_already_registered")
    for spelling in ("ab-_cd", "ab+/cd==", "ab%2B/cd", "ab-_cd="):
        assert (await api.http.get(f"/api/dids/lookup?credentialId={spelling}")).json()["found"] is True


async def test_an_identifier_has_sixteen_credentials_of_which_eight_wait_for_the_chain(api):
    await api.session("ann", ip="192.0.2.1")
    answers = await asyncio.gather(*(api.register(credentialId=f"c{n}") for n in range(30)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [429] * 23
    assert (await api.register(credentialId="own", ip="192.0.2.1")).status_code == 200, "the opener's place"
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert error_of(refused) == (429, "credential_limit_reached") and refused.headers["retry-after"] == "86400"
    store = api.service.store
    for row in await store.due(api.clock.now, 99):
        await store.settle(row.credential, Confirmation.CONFIRMED, 1, api.clock.now)
    answers = await asyncio.gather(*(api.register(credentialId=f"d{n}") for n in range(30)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [429] * 23
    assert (await api.register(credentialId="own2", ip="192.0.2.1")).status_code == 200, "the opener's place"
    for row in await store.due(api.clock.now, 99):
        await store.settle(row.credential, Confirmation.CONFIRMED, 1, api.clock.now)
    assert error_of(await api.register(credentialId="e")) == (429, "credential_limit_reached")
    assert (await api.register(identifier="bob", credentialId="e")).status_code == 200, "another identifier"


async def test_an_address_posts_a_hundred_times_a_day_whatever_comes_of_it(api):
    async def post(n):
        return await api.register(ip="192.0.2.1", identifier="ann" if n % 2 else "admin", credentialId=f"c{n}")

    answers = await asyncio.gather(*(post(n) for n in range(130)))
    assert sum(error_of(answer) == (429, "rate_limited") for answer in answers if answer.status_code == 429) >= 30
    api.clock.now += 1
    refused = await api.register(ip="192.0.2.1", identifier="ann", credentialId="last")
    assert error_of(refused) == (429, "rate_limited") and refused.headers["retry-after"] == "86399"
    assert (await api.register(identifier="bob", credentialId="other")).status_code == 200, "of another address"


def damaged(attestation):
    signature = attestation["signature"]
    last = "0" if signature[-1] != "0" else "1"
    return [
        "text", 5, [], {}, True, {**attestation, "signature": signature[:-1] + last},
        {**attestation, "signature": signature.upper()}, {**attestation, "signature": signature[2:]},
        {**attestation, "signature": ""}, {**attestation, "registrar": "did:web:evil.example"},
        {**attestation, "identifier": "eve@example.com"}, {**attestation, "channel": "sms"},
        {**attestation, "expires_at": "2099-01-01T00:00:00.000Z"}, {**attestation, "extra": "x"},
        {name: value for name, value in attestation.items() if name != "registrar"}, {**attestation, "verified_at": 5},
    ]  # fmt: skip


async def test_an_attestation_is_for_its_identifier_and_channel_and_damaged_ones_are_invalid(api):
    attestation = await api.attested()
    other = await api.register(identifier="bob@example.com", channel="email", attestation=attestation)
    assert error_of(other) == (403, "attestation_mismatch")
    claims = {**attestation, "channel": "sms", "identifier": "+14155552671"}
    del claims["signature"]
    signed = {**claims, "signature": sign(claims, KEY)}
    answer = await api.register(identifier=MAIL, channel="email", attestation=signed)
    assert error_of(answer) == (403, "attestation_mismatch")
    attestation = await api.attested()
    for bad in damaged(attestation):
        answer = await api.register(identifier=MAIL, channel="email", attestation=bad)
        assert error_of(answer) == (403, "attestation_invalid"), bad
    assert (await api.register(identifier=MAIL, channel="email", attestation=attestation)).status_code == 200


@pytest.mark.parametrize(("after", "status"), [(299.9, 200), (300.0, 403)])
async def test_an_attestation_lives_three_hundred_seconds(api, after, status):
    attestation = await api.attested()
    api.clock.now += after
    answer = await api.register(identifier=MAIL, channel="email", attestation=attestation)
    assert answer.status_code == status
    if status != 200:
        assert error_of(answer) == (403, "attestation_expired")


async def test_an_attestation_is_used_once_and_registers_an_address_for_good(api):
    attestation = await api.attested()
    answer = await api.register(identifier="ANN@example.com", channel="email", attestation=attestation)
    assert answer.json() == {"ok": True, "identifier": "ANN@example.com", "channel": "email", "txHash": "0xabc"}
    again = await api.register(identifier=MAIL, channel="email", attestation=attestation, credentialId="cred-2")
    assert error_of(again) == (403, "attestation_used")
    same = await api.register(identifier=MAIL, channel="email", attestation=attestation)
    assert error_of(same) == (409, "credential_already_registered")
    api.clock.now += 1
    proof = {"attestation": await api.attested(), "credentialId": "x"}
    other = await api.register(identifier=MAIL, channel="email", did=OTHER_DID, **proof)
    assert error_of(other) == (409, "identifier_taken")


async def test_every_key_verifies_the_first_signs_and_another_registrars_attestations_are_invalid(make_api):
    """A staging installation, for example, may have the same key but a different registrar DID."""
    staging = await make_api(registrar_did="did:web:staging.example.org").attested()
    refused = await make_api().register(identifier=MAIL, channel="email", attestation=staging)
    assert error_of(refused) == (403, "attestation_invalid")
    old = make_api(secrets=Secrets((b"o" * 32,), generated=False))
    attestation = await old.attested()
    rotated = make_api(secrets=Secrets((b"n" * 32, b"o" * 32), generated=False))
    assert (await rotated.register(identifier=MAIL, channel="email", attestation=attestation)).status_code == 200
    fresh = await rotated.attested("bob@example.com")
    refused = await old.register(identifier="bob@example.com", channel="email", attestation=fresh, credentialId="2")
    assert error_of(refused) == (403, "attestation_invalid")


async def test_an_alias_is_free_held_or_the_registrars(api):
    path = "/api/aliases/check"
    assert (await api.get(path, alias="ann")).json() == {"available": True}
    await api.session("ann")
    assert (await api.get(path, alias="ANN")).json() == {"available": False, "did": DID}
    assert (await api.get(path, alias="Admin")).json() == {"available": False, "did": "did:web:localhost%3A8787"}
    assert error_of(await api.get(path)) == (400, "Missing query parameter: alias")
    assert error_of(await api.get(path, alias="a b")) == (400, "Invalid identifier")
