"""The mail API and Twilio Verify, tested with a fake server that records the exact bytes it receives."""

import base64
import json
import logging
import time
from urllib.parse import quote

import pytest
from tests.support.receivers import HANG_UP, NEVER

from holdfast import __version__
from holdfast.service.delivery import http_exchange
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.mail.choice import mailer_of
from holdfast.service.mail.code_mail import mail_identity
from holdfast.service.mail.port import Notice
from holdfast.service.mail.resend_mailer import ResendMailer
from holdfast.service.sms.choice import sms_verifier_of
from holdfast.service.sms.twilio import TwilioVerifier
from holdfast.service.upstreams.pool import ConnectionPools
from holdfast.world.processes import free_port

KEY, ACCOUNT, TOKEN, SERVICE = "re_K3y/+=", "ACcount1", "t0k:en/?", "VAserviceABC"
ALICE, PHONE, CODE = "alice@example.com", "+12125550123", "271828"
COMMON = {"accept": "application/json", "accept-encoding": "identity", "user-agent": f"Holdfast/{__version__}"}
SENDER = r'"Holdfast, \"the\" vault" <no-reply@vault.example>'


@pytest.fixture
async def http():
    pools = ConnectionPools()  # the service's own pools, which decompress nothing
    yield pools.of("mail")
    await pools.close()


@pytest.fixture
def mailer(provider, http):
    url = f"resend://{quote(KEY, safe='')}@?base_url={provider.url}"
    return mailer_of(url, SENDER, http, None, "vault.example")


@pytest.fixture
def verifier(provider, http):
    url = f"twilio://{ACCOUNT}:{quote(TOKEN, safe='')}@{SERVICE}?base_url={provider.url}/"
    return sms_verifier_of(url, http, None, time.time, lambda _: b"")


@pytest.fixture(autouse=True)
def nothing_leaks(caplog):
    caplog.set_level(logging.DEBUG)
    yield
    basic = base64.b64encode(f"{ACCOUNT}:{TOKEN}".encode()).decode()
    told = "\n".join(r.getMessage() + str(r.exc_text) for r in caplog.records)
    secrets = (ALICE, PHONE, PHONE[1:], CODE, KEY, TOKEN, basic)
    assert not [word for word in secrets if word in told]


async def kind_of(sending):
    with pytest.raises(DeliveryError) as caught:
        await sending
    told = f"{caught.value} {caught.value.__cause__}"
    assert not [word for word in (ALICE, PHONE, CODE, KEY, TOKEN) if word in told]
    return caught.value.kind


async def test_resend_request_is_exact(provider, mailer):
    provider.answers_with(200, {"id": "49a3999c"})
    await mailer.send_code(ALICE, CODE, 90)
    [(first, headers, body)] = provider.requests
    assert first == "POST /emails HTTP/1.1"
    assert headers == headers | COMMON | {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    assert len(headers["idempotency-key"]) == 36
    sent = json.loads(body)
    texts = (sent.pop("text"), sent.pop("html"))
    assert CODE in texts[0] and CODE in texts[1]
    assert sent == {
        "from": SENDER, "to": [ALICE], "subject": f"Your code for vault.example: {CODE}",
        "headers": {"Auto-Submitted": "auto-generated"},
    }  # fmt: skip


async def test_resend_repeats_once_with_the_same_key_when_the_connection_dies(provider, mailer):
    provider.answers += [HANG_UP]
    provider.answers_with(200, {"id": "x"})
    await mailer.send_code(ALICE, CODE, 90)
    first, second = provider.requests
    assert first[1]["idempotency-key"] == second[1]["idempotency-key"]
    assert first[2] == second[2]
    provider.answers += [HANG_UP, HANG_UP]
    assert await kind_of(mailer.send_code(ALICE, CODE, 90)) == "unreachable"
    assert len(provider.requests) == 4
    notice = Notice("84532:0xaa:3", "started", "0xaa", 1_800_000_000.0, "")
    for sent in (notice, notice, notice._replace(name="84532:0xaa:4")):
        provider.answers_with(200, {"id": "49a3999c"})
        await mailer.send_notice(ALICE, sent)
    keys = [headers["idempotency-key"] for _, headers, _ in provider.requests[4:]]
    assert keys[0] == keys[1] != keys[2], "a notice that is sent twice has the same key"
    message = json.loads(provider.requests[4][2])
    assert message["to"] == [ALICE] and "2027-01-15 08:00 UTC" in message["text"] and "0xaa" in message["html"]


@pytest.mark.parametrize(("status", "body", "kind"), [
    (400, {"message": f"bad address {ALICE}"}, "refused"), (401, {"name": "missing_api_key"}, "refused"),
    (403, {}, "refused"), (422, {"name": "validation_error"}, "refused"), (429, {"name": "rate_limit_exceeded"}, "refused"),
    (500, {"name": "internal_server_error"}, "refused"), (503, b"<html>down</html>", "refused"), (302, {}, "nonsense"),
    *((200, body, "nonsense") for body in (b"", b"[]", b"{}", b"\xff\xfe{", b"[" * 60_000)),
    (200, b'{"id": "x", "status": "pending", "more": "' + b"x" * 70_000 + b'"}', "nonsense"),
])  # fmt: skip
async def test_failures_of_both_apis(provider, mailer, verifier, status, body, kind):
    location = f"Location: {provider.url}/elsewhere\r\n" if status == 302 else ""
    for send in (mailer.send_code(ALICE, CODE, 90), verifier.start(PHONE), verifier.check_code(PHONE, CODE)):
        provider.answers_with(status, body, location)
        assert await kind_of(send) == kind
    assert len(provider.requests) == 3  # no redirect was followed, no request repeated


async def test_an_answer_that_is_not_http_and_one_that_does_not_start_a_verification(provider, mailer, verifier):
    for answer in (b"\x00\x01garbage\r\n\r\n", b"220 mail.example ESMTP\r\n\r\n", b"HTTP/1.1 2OO OK\r\n\r\n"):
        for send in (mailer.send_code(ALICE, CODE, 90), verifier.start(PHONE)):
            provider.answers = [answer]
            assert await kind_of(send) == "nonsense"
    for status in ("approved", None, ["pending"]):
        provider.answers_with(201, {"status": status})
        assert await kind_of(verifier.start(PHONE)) == "nonsense"


async def test_checks_send_nothing(provider, mailer, verifier):
    accepted = f"mail API at {provider.url.removeprefix('http://')}, key accepted"
    for status, body, told in (
        (200, {"data": []}, accepted), (401, {"name": "restricted_api_key"}, accepted),
        (401, {"name": "invalid_api_key"}, None),
    ):  # fmt: skip
        provider.answers_with(status, body)
        assert await (mailer.check() if told else kind_of(mailer.check())) == (told or "refused")
    provider.answers_with(200, {"sid": SERVICE, "friendly_name": "Holdfast"})
    assert await verifier.check() == f"Twilio Verify at {provider.url.removeprefix('http://')}, token accepted"
    for status, body, kind in ((200, {"sid": "VAother"}, "nonsense"), (401, {"code": 20003}, "refused")):
        provider.answers_with(status, body)
        assert await kind_of(verifier.check()) == kind
    asked = [first.split()[1] for first, _, _ in provider.requests]
    assert asked == ["/domains"] * 3 + [f"/v2/Services/{SERVICE}"] * 3


async def test_never_answering_is_a_timeout_and_a_closed_port_unreachable(provider, verifier, http):
    url, identity = f"{provider.url}/v2/Services/{SERVICE}", mail_identity(SENDER, "vault.example")
    slow = ResendMailer(KEY, provider.url, http, identity, timeout_s=0.2)
    silent = TwilioVerifier(ACCOUNT, TOKEN, url, http, timeout_s=0.2)
    for send in (slow.send_code(ALICE, CODE, 90), silent.start(PHONE), silent.check_code(PHONE, CODE)):
        provider.answers = [NEVER]
        assert await kind_of(send) == "timeout"
    assert len(provider.requests) == 3 and http_exchange.TIMEOUT_S == 10
    base = f"http://127.0.0.1:{free_port()}"
    mailer, absent = ResendMailer(KEY, base, http, identity), TwilioVerifier(ACCOUNT, TOKEN, f"{base}/v2", http)
    provider.answers_with(201, {"status": "pending"})
    await verifier.start(PHONE)
    provider.answers += [HANG_UP]
    for send, perhaps_sent in (
        (mailer.send_code(ALICE, CODE, 90), False), (mailer.check(), False), (absent.start(PHONE), False),
        (absent.check(), False), (verifier.start(PHONE), True),
    ):  # fmt: skip
        with pytest.raises(DeliveryError) as error:
            await send
        assert (error.value.kind, error.value.perhaps_sent) == ("unreachable", perhaps_sent)
    # An idle connection might be closed just as a request sends an SMS, so each request has its own, and is not repeated.
    assert (len(provider.requests), provider.connections) == (5, 5)
    for status in (502, 503, 504):  # what a gateway could not pass on, and what had no answer
        provider.answers_with(status, b"")
        with pytest.raises(DeliveryError) as error:
            await verifier.start(PHONE)
        assert (error.value.kind, error.value.perhaps_sent) == ("refused", status == 504)


async def test_twilio_requests_are_exact(provider, verifier):
    provider.answers_with(201, {"sid": "VE1", "status": "pending", "to": PHONE})
    provider.answers_with(200, {"sid": "VE1", "status": "approved", "valid": True})
    await verifier.start(PHONE)
    assert await verifier.check_code(PHONE, CODE)
    (first, headers, body), (second, _, check) = provider.requests
    assert first == f"POST /v2/Services/{SERVICE}/Verifications HTTP/1.1"
    basic = "Basic " + base64.b64encode(f"{ACCOUNT}:{TOKEN}".encode()).decode()
    assert headers == headers | COMMON | {"authorization": basic, "content-type": "application/x-www-form-urlencoded"}
    assert body == b"To=%2B12125550123&Channel=sms"
    assert second == f"POST /v2/Services/{SERVICE}/VerificationCheck HTTP/1.1"
    assert check == b"To=%2B12125550123&Code=271828"


async def test_nothing_is_asked_about_what_is_no_code_and_no_address(provider, mailer, verifier):
    for code in ("", "1", "12345678901", "1&To=%2B1999", "271828\r\n", "٢٧١٨٢٨", "27 18 28", "\ud800" * 6):
        assert not await verifier.check_code(PHONE, code)
    for recipient in ("alice", "a@b\r\nBcc: c@d.example", "a@b, c@d"):
        assert await kind_of(mailer.send_code(recipient, CODE, 90)) == "refused"
    assert not provider.requests


@pytest.mark.parametrize(("status", "body", "approved"), [
    (200, {"status": "approved"}, True), (200, {"status": "pending", "valid": False}, False),
    (200, {"status": "canceled"}, False), (200, {"status": "expired"}, False),
    (200, {"status": "max_attempts_reached"}, False), (404, {"code": 20404, "message": "not found"}, False),
    (404, b"", False), (429, {"code": 60202, "message": "Max check attempts reached"}, False),
    *((200, {"status": status}, None) for status in (None, "APPROVED", True, ["approved"])), (200, {"valid": True}, None),
])  # fmt: skip
async def test_twilio_judgements(provider, verifier, status, body, approved):
    provider.answers_with(status, body)
    if approved is None:
        assert await kind_of(verifier.check_code(PHONE, CODE)) == "nonsense"
    else:
        assert await verifier.check_code(PHONE, CODE) is approved
