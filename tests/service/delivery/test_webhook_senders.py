"""Codes through a webhook of the operator's own: what it gets, how it is signed, and that the codes are Holdfast's."""

import json

import httpx2
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from tests.support.api import DID, PHONE, Api, Clock, RecordingMailer

from holdfast.service.bootstrap.applications import application_of
from holdfast.service.bootstrap.services import build_service
from holdfast.service.bootstrap.stores import database, open_store
from holdfast.service.mail.port import Notice
from holdfast.service.settings.secrets import Secrets, new_webhook_secret
from holdfast.service.settings.values import read_settings

ALICE = "alice@example.com"
SECRET = new_webhook_secret()


@pytest.fixture
async def api(provider, tmp_path):
    hook = f"webhook+{provider.url}"
    settings = read_settings(
        {
            "HOLDFAST_DATA_DIR": str(tmp_path), "HOLDFAST_PUBLIC_URL": "https://vault.example",
            "HOLDFAST_MAIL_URL": f"{hook}/mail", "HOLDFAST_SMS_URL": f"{hook}/sms?tenant=1",
            "HOLDFAST_WEBHOOK_SECRET": SECRET,
        }
    )  # fmt: skip
    clock = Clock()
    service = build_service(settings, Secrets((b"k" * 32,), generated=False), open_store(settings), clock=clock)
    made = Api(application_of(settings, service), clock, RecordingMailer(), service.senders[1], database(settings))
    yield made
    await made.http.aclose()
    await made.application.stop()


def received(provider, number=-1):
    """Return a message after the foreign library has verified it."""
    _, headers, body = provider.requests[number]
    message = Webhook(SECRET).verify(body.decode(), headers)
    assert message == json.loads(body)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_webhook_secret()).verify(body.decode(), headers)
    return message


async def test_a_mail_reaches_the_webhook_with_texts_and_code(api, provider):
    provider.answers_with(204, b"")
    assert (await api.post("/api/verify/send", identifier=ALICE, channel="email")).status_code == 200
    assert provider.requests[0][0] == "POST /mail HTTP/1.1"
    message = received(provider)
    code = message["data"]["code"]
    assert message["type"] == "code.email"
    texts = {name: message["data"].pop(name) for name in ("text", "html")}
    assert code in texts["text"] and code in texts["html"]
    assert message["data"] == {
        "from": "Holdfast <no-reply@vault.example>", "to": ALICE, "code": code, "expires_in": 90,
        "subject": f"Your code for vault.example: {code}",
    }  # fmt: skip
    checked = await api.post("/api/verify/check", identifier=ALICE, channel="email", code=code)
    assert checked.json()["verified"] is True
    provider.answers_with(204, b"")
    await api.service.senders[0].send_notice(ALICE, Notice("a1", "asked", "0xaa", 1_800_000_000.0, "5a" * 16))
    message = received(provider)
    assert message["type"] == "recovery.email"
    assert message["data"].keys() == {"from", "to", "notice", "account", "subject", "text", "html"}
    assert (message["data"]["notice"], message["data"]["account"]) == ("asked", "0xaa")
    assert f"https://vault.example/vault#stop-recovery={'5a' * 16}" in message["data"]["text"]


async def test_a_text_message_has_a_code_of_holdfasts_own(api, provider):
    provider.answers_with(200, {})
    assert (await api.post("/api/verify/send", identifier=PHONE, channel="sms")).status_code == 200
    assert provider.requests[0][0] == "POST /sms?tenant=1 HTTP/1.1"
    message = received(provider)
    data = message["data"]
    assert (message["type"], data["to"], data["expires_in"]) == ("code.sms", PHONE, 600)
    assert data["text"] == f"Your code is {data['code']}\n\n@vault.example #{data['code']}"
    wrong = await api.post("/api/verify/check", identifier=PHONE, channel="sms", code="x")
    assert (wrong.json()["verified"], wrong.json()["message"]) == (False, "The code is incorrect.")
    right = await api.post("/api/verify/check", identifier=PHONE, channel="sms", code=data["code"])
    body = {"credentialId": "c1", "identifier": PHONE, "channel": "sms", "did": DID, "txHash": "0x1"}
    done = await api.post("/api/dids", **body, attestation=right.json()["attestation"])
    assert done.status_code == 200
    again = await api.post("/api/verify/check", identifier=PHONE, channel="sms", code=data["code"])
    assert again.json()["verified"] is False, "a code is used once"
    assert len(provider.requests) == 1, "codes are checked here"
    provider.answers_with(200, {})
    await api.post("/api/verify/send", identifier=PHONE, channel="sms")
    api.clock.now += 600
    late = {"identifier": PHONE, "channel": "sms", "code": received(provider)["data"]["code"]}
    assert (await api.post("/api/verify/check", **late)).json()["message"] == "The code has expired. Request a new one."


async def test_the_check_is_a_signed_message_that_sends_nothing(api, provider):
    for sender in api.service.senders:
        provider.answers_with(200, {})
        assert await sender.check() == f"webhook at {httpx2.URL(provider.url).netloc.decode()}, message accepted"
        assert (received(provider)["type"], received(provider)["data"]) == ("check", {})
