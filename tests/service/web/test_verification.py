"""POST /api/verify/send, POST /api/verify/check, GET /api/verify/status."""

import asyncio

import pytest
from tests.support.api import DID, MAIL, PHONE, DeliveryError, error_of

from holdfast.service.store.port import StoreUnavailable

SEND, CHECK, STATUS = "/api/verify/send", "/api/verify/check", "/api/verify/status"
INCORRECT, TOO_MANY = "The code is incorrect.", "Too many attempts. Request a new code."


async def send(api, identifier=MAIL, channel="email", **more):
    return await api.post(SEND, identifier=identifier, channel=channel, **more)


async def check(api, code, identifier=MAIL, channel="email", **more):
    return await api.post(CHECK, identifier=identifier, channel=channel, code=code, **more)


def wrong(code):
    return f"{(int(code) + 1) % 10**6:06d}"


async def test_a_code_is_sent_to_the_canonical_address_and_gives_one_attestation(api):
    answer = await send(api, "ANN@Example.com")
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "channel": "email"})
    recipient, code, lifetime_s = api.mailer.sent[0]
    assert (recipient, lifetime_s) == (MAIL, 90) and len(code) == 6 and code.isdigit()
    await send(api, "bob@example.com")
    assert not (await check(api, api.mailer.sent[1][1])).json()["verified"], "a code is bound to its address"
    api.clock.now += 5.5
    answer = await check(api, code, "Ann@example.com")
    body = answer.json()
    signature = body["attestation"].pop("signature")
    assert answer.status_code == 200 and body == {
        "ok": True, "verified": True, "attestation": {
            "identifier": "Ann@example.com", "channel": "email", "verified_at": "2027-01-15T08:00:05.500Z",
            "expires_at": "2027-01-15T08:05:05.500Z", "registrar": "did:web:localhost%3A8787",
        },
    }  # fmt: skip
    assert signature.startswith("0x") and len(signature) == 66
    message = "No code was sent or it has been used. Request a new one."
    assert (await check(api, code)).json() == {"ok": True, "verified": False, "message": message}


async def test_the_fifth_wrong_try_burns_the_code(api):
    await send(api, ip="192.0.2.1")
    code = api.mailer.sent[0][1]
    for _ in range(5):
        assert (await check(api, wrong(code), ip="192.0.2.1")).json()["message"] == INCORRECT
    answer = (await check(api, code, ip="192.0.2.1")).json()
    assert answer == {"ok": True, "verified": False, "message": TOO_MANY}


@pytest.mark.parametrize(("after", "verified"), [(89.9, True), (90.0, False), (5000.0, False)])
async def test_a_code_lives_ninety_seconds_from_acceptance(api, after, verified):
    await send(api)
    api.clock.now += after
    body = (await check(api, api.mailer.sent[0][1])).json()
    assert body["verified"] is verified
    if not verified:
        assert body["message"] == "The code has expired. Request a new one."


async def test_an_address_sends_three_times_a_day_over_all_channels(api):
    assert (await send(api, ip="192.0.2.1")).status_code == 200
    api.clock.now += 10
    assert (await send(api, "bob@example.com", ip="192.0.2.1")).status_code == 200
    assert (await send(api, PHONE, "sms", ip="192.0.2.1")).status_code == 200
    refused = await send(api, "eve@example.com", ip="192.0.2.1")
    assert error_of(refused) == (429, "rate_limited")
    assert refused.headers["retry-after"] == str(86400 - 10)
    api.clock.now += 86400 - 10
    assert (await send(api, "eve@example.com", ip="192.0.2.1")).status_code == 200


@pytest.mark.parametrize("to", [(MAIL, "email"), (PHONE, "sms")])
async def test_an_identifier_gets_five_codes_an_hour(api, to):
    for _ in range(5):
        assert (await send(api, *to)).status_code == 200
        api.clock.now += 60
    refused = await send(api, *to)
    assert error_of(refused) == (429, "rate_limited")
    assert refused.headers["retry-after"] == str(3600 - 300)
    api.clock.now += 3300
    assert (await send(api, *to)).status_code == 200


async def test_a_country_and_the_service_get_so_many_messages_a_day(make_api):
    api = make_api(sms_per_country_day="3", sms_per_day="5")
    germans, americans = [f"+49151123456{n:02}" for n in range(9)], [f"+1415555267{n}" for n in range(9)]
    answers = await asyncio.gather(*(send(api, number, "sms") for number in germans))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [429] * 6
    answers = await asyncio.gather(*(send(api, number, "sms") for number in americans))
    assert sorted(answer.status_code for answer in answers) == [200] * 2 + [429] * 7
    assert (await send(api)).status_code == 200, "mail is apart"
    assert len(api.sms.sent) == 5
    api = make_api(sms_countries="de, at")
    assert (await send(api, "+4915112345678", "sms")).status_code == 200
    assert error_of(await send(api, PHONE, "sms")) == (400, "Unsupported country")
    assert api.sms.sent == ["+4915112345678"]


CHANNELS = pytest.mark.parametrize(("channel", "identifier"), [("email", MAIL), ("sms", PHONE)])


@CHANNELS
@pytest.mark.parametrize(("failure", "charged", "status"), [
    (DeliveryError("refused"), False, 502),
    (DeliveryError("unreachable"), False, 502),
    (DeliveryError("unreachable", "hung up", perhaps_sent=True), True, 502),
    (DeliveryError("timeout"), True, 502),
    (DeliveryError("nonsense"), True, 502),
    (RuntimeError("unforeseen"), False, 500),
], ids=["refused", "not reached", "hung up", "timeout", "nonsense", "unforeseen"])  # fmt: skip
async def test_a_failed_send_is_charged_if_it_may_have_gone_out(api, channel, identifier, failure, charged, status):
    api.mailer.failure = api.sms.failure = failure
    answers = [await send(api, identifier, channel, ip="192.0.2.1") for _ in range(5)]
    assert [answer.status_code for answer in answers] == ([status] * 3 + [429] * 2 if charged else [status] * 5)
    assert error_of(answers[0]) == (status, f"{channel}_send_failed" if status == 502 else "internal_error")
    api.mailer.failure = api.sms.failure = None
    answers = [await send(api, identifier, channel, ip="192.0.2.1") for _ in range(4)]
    assert [answer.status_code for answer in answers] == ([429] * 4 if charged else [200] * 3 + [429])


@CHANNELS
async def test_refused_sends_have_a_window_too(api, channel, identifier):
    asked = []

    async def refuse(recipient, *_):
        asked.append(recipient)
        raise DeliveryError("refused")

    api.mailer.send_code = api.sms.start = refuse  # a provider that refuses
    answers = await asyncio.gather(*(send(api, identifier, channel, ip="192.0.2.1") for _ in range(15)))
    answers += [await send(api, identifier, channel, ip="192.0.2.1") for _ in range(40)]
    assert len(asked) == 20 and {answer.status_code for answer in answers} == {429, 502}
    assert (await send(api, identifier, channel)).status_code == 502, "of another address"


async def test_a_mail_whose_code_could_not_be_stored_stays_charged(api, monkeypatch):
    async def full(*_):
        raise StoreUnavailable("disk full")

    monkeypatch.setattr(api.service.store, "keep_code", full)
    assert [(await send(api, ip="192.0.2.1")).status_code for _ in range(5)] == [503] * 3 + [429] * 2
    assert len(api.mailer.sent) == 3


@CHANNELS
async def test_an_address_checks_sixty_times_an_hour(api, channel, identifier):
    async def one():
        body = {"identifier": identifier, "channel": channel, "code": "000000"}
        return await api.post(CHECK, ip="192.0.2.1", **body)

    answers = await asyncio.gather(*(one() for _ in range(80)))
    assert sorted(answer.status_code for answer in answers) == [200] * 60 + [429] * 20
    refused = await one()
    assert error_of(refused) == (429, "rate_limited") and refused.headers["retry-after"] == "3600"
    assert (await check(api, "000000", identifier, channel)).status_code == 200, "of another address"
    api.clock.now += 3600
    assert (await one()).status_code == 200


async def test_a_failed_send_leaves_the_older_code_in_force_and_of_parallel_right_answers_one_wins(api):
    await send(api)
    api.mailer.failure = DeliveryError("refused")
    await send(api)
    answers = await asyncio.gather(*(check(api, api.mailer.sent[0][1]) for _ in range(5)))
    assert sum(answer.json()["verified"] for answer in answers) == 1


async def test_a_strangers_fifth_wrong_sms_code_does_not_reach_the_provider(api):
    asked = []
    check_code = api.sms.check_code

    async def counting(phone, code):
        """A provider that burns a code after five checks."""
        asked.append(code)
        return len(asked) <= 5 and await check_code(phone, code)

    api.sms.check_code = counting
    assert (await send(api, "+1-415-555-2671", "sms", ip="192.0.2.1")).json() == {"ok": True, "channel": "sms"}
    guesses = [f"{n:06}" for n in range(30)]
    answers = await asyncio.gather(*(check(api, guess, PHONE, "sms", ip="198.51.100.9") for guess in guesses))
    assert sorted(answer.json()["message"] for answer in answers) == sorted([INCORRECT] * 4 + [TOO_MANY] * 26)
    assert len(asked) == 4
    right = await check(api, api.sms.code, PHONE, "sms", ip="192.0.2.1")
    assert right.json()["verified"] is True
    again = await check(api, api.sms.code, PHONE, "sms", ip="192.0.2.1")
    assert asked[4:] == [api.sms.code] * 2 and again.json()["message"] == INCORRECT, "the code is used up"
    assert api.sms.sent == [PHONE] and right.json()["attestation"]["channel"] == "sms", "codes are the provider's"


@pytest.mark.parametrize("second_answer", ["said", "lost"])
async def test_a_second_message_with_the_same_code_brings_no_attempts(api, second_answer):
    """The provider allows five checks of a code, however often it sends it, and whatever it says of a message."""
    other = "+14155552672"
    api.sms.failure = DeliveryError("timeout")
    assert error_of(await send(api, other, "sms", ip="192.0.2.2")) == (502, "sms_send_failed")
    api.sms.failure, api.sms.same_code_s = None, 600.0
    messages = [(await check(api, "000000", other, "sms", ip="198.51.100.9")).json()["message"] for _ in range(5)]
    assert messages == [INCORRECT] * 4 + [TOO_MANY]
    for guesses in (3, 2):
        assert (await send(api, PHONE, "sms", ip="192.0.2.1")).status_code in {200, 502}
        api.sms.failure = None
        for n in range(guesses):
            answer = await check(api, f"00000{n}", PHONE, "sms", ip="198.51.100.9")
        api.sms.failure = DeliveryError("timeout") if second_answer == "lost" else None
    api.sms.failure = None
    assert answer.json()["message"] == TOO_MANY
    assert (await check(api, api.sms.code, PHONE, "sms", ip="192.0.2.1")).json()["verified"] is True


async def test_a_failed_delivery_is_logged_with_the_step_that_failed(api, caplog):
    api.sms.failure = DeliveryError("timeout", "the provider did not answer in time")
    answer = await check(api, "123456", PHONE, "sms")
    assert (answer.status_code, answer.json()) == (502, {"ok": False, "error": "sms_check_failed"})
    (told,) = [(record.message, record.channel, record.kind, record.why) for record in caplog.records]
    assert told == ("check failed", "sms", "timeout", "timeout: the provider did not answer in time")


@CHANNELS
async def test_status_tells_the_attestations_own_instant(api, channel, identifier):
    empty = (await api.get(STATUS, identifier=identifier.upper(), channel=channel)).json()
    assert empty == {"identifier": identifier.upper(), "channel": channel, "verified": False, "verifiedAt": None}
    api.clock.step = 0.0037  # time passes between any two readings of the clock
    await send(api, identifier, channel)
    code = api.mailer.sent[0][1] if channel == "email" else api.sms.code
    at = (await check(api, code, identifier, channel)).json()["attestation"]["verified_at"]
    known = (await api.get(STATUS, identifier=identifier, channel=channel)).json()
    assert known == {"identifier": identifier, "channel": channel, "verified": True, "verifiedAt": at}


async def test_a_plus_sign_in_a_query_is_a_plus_sign_and_bad_input_gets_its_sentence(api):
    for query, echo in (
        ("identifier=+14155552671&channel=sms", PHONE), ("identifier=ann%2Btag%40example.com&channel=email", "ann+tag@example.com"),
        ("identifier=%20ann@example.com%20&channel=email", "ann@example.com"),
    ):  # fmt: skip
        assert (await api.http.get(f"{STATUS}?{query}")).json()["identifier"] == echo
        assert (await api.http.get(f"/api/sessions/check?{query}")).json() == {"available": True, "reason": None}
    for path, fields, message in (
        (SEND, {"channel": 1}, "Missing required fields: identifier, channel"),
        (SEND, {"channel": "handle"}, 'Invalid channel. Must be "sms" or "email"'),
        (SEND, {"identifier": "a@b.c\r\nBcc: x@y.z"}, "Invalid identifier"),
        (SEND, {"identifier": "5551234", "channel": "sms"}, "Invalid identifier"),
        (CHECK, {"code": 123456}, "Missing required fields: identifier, channel, code"),
        (CHECK, {"channel": "x", "code": "1"}, 'Invalid channel. Must be "sms" or "email"'),
    ):  # fmt: skip
        body = {"identifier": MAIL, "channel": "email", **fields}
        assert error_of(await api.post(path, **body)) == (400, message)


async def test_no_code_and_no_identifier_reaches_log_or_file(api, caplog, tmp_path):
    caplog.set_level("DEBUG")
    await api.session("ann")
    attestation = await api.attested()
    api.mailer.failure = DeliveryError("timeout")
    await send(api)
    await api.register(identifier=MAIL, channel="email", attestation=attestation)
    code = api.mailer.sent[0][1]
    for secret in (code, MAIL, attestation["signature"], DID):
        assert secret not in caplog.text
    assert code not in str([*api.rows()])
    assert not [file for file in tmp_path.glob("*") if code.encode() in file.read_bytes()]
