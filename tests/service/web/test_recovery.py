"""The endpoints under /api/recovery: the service signs as a guardian only after a code and a waiting time."""

import asyncio

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from tests.support.api import MAIL, PHONE, error_of
from tests.support.guarded_account import ACCOUNT, DID, KEYS, NEW_OWNER, SECRETS, GuardedAccount, has_addresses
from tests.support.upstreams import upstream

from holdfast.chain.account_messages import recovery_digest
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.p256 import ORDER

WORK = "ann@work.example"
DAY = 86400
OTHER_ACCOUNT = "0x" + "cd" * 20


@pytest.fixture
async def guarded(make_api):
    async with upstream() as rpc:
        account = GuardedAccount()
        rpc.answer = account.rpc()
        api = make_api(rpc_url=rpc.url, secrets=SECRETS)
        await has_addresses(api, MAIL, WORK)
        yield api, account


async def ask(api, **fields):
    body = {"identifier": MAIL, "channel": "email", "account": ACCOUNT, "newOwners": [NEW_OWNER], **fields}
    return await api.post("/api/recovery/send", **body)


async def check(api, request, code, **more):
    return await api.post("/api/recovery/check", request=request, code=code, **more)


async def sign(api, **fields):
    return await api.post("/api/recovery/sign", **{"account": ACCOUNT, "newOwners": [NEW_OWNER], **fields})


async def confirmed(api):
    """Ask and enter the code; return the request's number."""
    request = (await ask(api)).json()["request"]
    assert (await check(api, request, api.mailer.sent[-1][1])).json()["verified"] is True
    return request


async def test_the_key_is_public_and_a_service_without_a_key_is_no_guardian(guarded, make_api):
    answer = await guarded[0].get("/api/recovery")
    key = to_hex(KEYS[0].signer)
    assert answer.json() == {"guardian": key, "guardians": [key], "waitSeconds": DAY, "channels": ["email"]}
    api = make_api()
    without = {"guardian": None, "guardians": [], "waitSeconds": DAY, "channels": []}
    assert (await api.get("/api/recovery")).json() == without
    stop = api.post("/api/recovery/stop", request="a" * 32)
    for answer in (await ask(api), await sign(api), await check(api, "a" * 32, "123456"), await stop):
        assert error_of(answer) == (503, "guardian_not_configured")


async def test_it_signs_after_the_code_and_the_waiting_time(guarded):
    api, account = guarded
    sent = await ask(api)
    assert (sent.status_code, set(sent.json())) == (200, {"ok", "channel", "request"})
    assert error_of(await sign(api)) == (404, "recovery_not_found")
    found = (await ask(api, account=None)).json()["request"]
    assert (await check(api, found, api.mailer.sent[1][1])).json()["account"] == ACCOUNT, "of the DID's address"
    answer = await check(api, sent.json()["request"], api.mailer.sent[0][1])
    assert answer.json() == {"ok": True, "verified": True, "account": ACCOUNT, "readyAt": "2027-01-16T08:00:00.000Z"}
    api.clock.now += DAY - 1
    early = await sign(api)
    assert error_of(early) == (409, "recovery_waits") and early.headers["Retry-After"] == "1"
    api.clock.now += 1
    signed = (await sign(api)).json()
    assert (signed["nonce"], signed["signer"]) == (account.nonce, to_hex(KEYS[0].signer))
    r, s = (int.from_bytes(from_hex(signed["signature"])[at : at + 32]) for at in (0, 32))
    digest = recovery_digest(ACCOUNT, account.nonce, [from_hex(NEW_OWNER)])
    KEYS[0].private.public_key().verify(encode_dss_signature(r, s), digest, ec.ECDSA(Prehashed(SHA256())))
    assert s <= ORDER // 2, "the contract refuses the other s"


async def test_only_these_owners_of_this_account_are_signed(guarded):
    api, account = guarded
    await confirmed(api)
    api.clock.now += DAY
    other = to_hex(KEYS[0].signer)
    assert error_of(await sign(api, newOwners=[other])) == (404, "recovery_not_found")
    assert error_of(await sign(api, newOwners=[NEW_OWNER, other])) == (404, "recovery_not_found")
    assert error_of(await sign(api, account=OTHER_ACCOUNT)) == (409, "recovery_not_possible")
    missing = (400, "Missing required fields: account, newOwners")
    assert error_of(await sign(api, digest="0x" + "11" * 32, newOwners="0x11")) == missing
    for did, guardians in (("did:new:0x" + "cd" * 32, account.guardians), (DID, [])):
        account.did, guarding, account.guardians = did, account.guardians, guardians
        assert error_of(await sign(api)) == (409, "recovery_not_possible")
        account.did, account.guardians = DID, guarding
    account.nonce += 1
    assert error_of(await sign(api)) == (404, "recovery_not_found"), "an owner cancelled, or another one was started"


@pytest.mark.parametrize("signed", [True, False])
async def test_an_address_of_another_did_gets_no_code(guarded, signed):
    """Anyone may register an address for any DID; it counts only if the DID's key signed that.

    A provider that makes its own codes is not used: its code would be accepted for a registration, too.
    """
    api, account = guarded
    await has_addresses(api, "mallory@example.com", did="did:new:0x" + "cd" * 32 if signed else DID, signed=signed)
    assert error_of(await ask(api, identifier="mallory@example.com")) == (409, "recovery_not_possible")
    assert error_of(await ask(api, identifier="nobody@example.com")) == (409, "recovery_not_possible")
    assert error_of(await ask(api, account=OTHER_ACCOUNT)) == (409, "recovery_not_possible")
    account.did = "did:new:0x" + "cd" * 32
    assert error_of(await ask(api, account=None)) == (409, "recovery_not_possible")
    by_phone = await ask(api, identifier=PHONE, channel="sms")
    assert error_of(by_phone) == (400, 'Invalid channel. Must be "sms" or "email"')
    assert api.mailer.sent == []


async def test_a_code_has_five_attempts_and_ninety_seconds_and_is_for_recoveries_alone(guarded):
    api, _ = guarded
    request = (await ask(api)).json()["request"]
    recovering = api.mailer.sent[-1][1]
    refused = await api.post("/api/verify/check", identifier=MAIL, channel="email", code=recovering)
    assert refused.json()["verified"] is False
    assert (await api.post("/api/verify/send", identifier=MAIL, channel="email")).status_code == 200
    registering = api.mailer.sent[-1][1]
    if registering != recovering:  # one time in a million
        assert (await check(api, request, registering)).json()["verified"] is False
    assert (await check(api, request, recovering)).json()["verified"] is True
    assert (await check(api, request, recovering)).json()["verified"] is False, "a code is used once"
    request = (await ask(api)).json()["request"]
    code = api.mailer.sent[-1][1]
    wrong = f"{(int(code) + 1) % 10**6:06d}"
    said = [(await check(api, request, wrong)).json()["message"] for _ in range(6)]
    assert said == ["The code is incorrect."] * 5 + ["Too many attempts. Request a new code."]
    assert (await check(api, request, code)).json()["verified"] is False
    late = (await ask(api)).json()["request"]
    api.clock.now += 91
    answer = (await check(api, late, api.mailer.sent[-1][1])).json()
    assert answer["message"] == "The code has expired. Request a new one."
    assert (await check(api, "x", code)).json()["verified"] is False


async def test_codes_for_recoveries_count_in_the_windows_of_all_codes(guarded):
    api, _ = guarded
    for _ in range(3):
        assert (await api.post("/api/verify/send", identifier=MAIL, channel="email")).status_code == 200
    results = await asyncio.gather(*(ask(api) for _ in range(6)))
    assert sorted(result.status_code for result in results) == [200] * 2 + [429] * 4
    api.clock.now += 3601
    assert (await ask(api)).status_code == 200


async def test_a_stopped_request_signs_nothing(guarded):
    api, _ = guarded
    request = await confirmed(api)
    api.clock.now += DAY
    assert (await api.post("/api/recovery/stop", request="odd")).json() == {"stopped": False}
    assert (await api.post("/api/recovery/stop", request=request)).json() == {"stopped": True}
    assert (await api.post("/api/recovery/stop", request=request)).json() == {"stopped": False}
    assert error_of(await sign(api)) == (404, "recovery_not_found")


async def test_lists_and_contracts_that_cannot_be_of_an_account_are_refused(guarded):
    message = "Invalid newOwners: expected 1 to 16 different signers in hex"
    off_the_curve, many = ["0x" + "11" * 64], [f"0x{n:040x}" for n in range(1, 18)]
    for owners in ([], [NEW_OWNER] * 2, many, ["0x12"], off_the_curve, ["zz"], [5], [None]):
        assert error_of(await ask(guarded[0], newOwners=owners)) == (400, message), owners
        assert error_of(await sign(guarded[0], newOwners=owners)) == (400, message), owners
    api, account = guarded
    account.nonce = 2**63
    assert error_of(await ask(api)) == error_of(await sign(api)) == (409, "recovery_not_possible")
    assert api.mailer.sent == []
