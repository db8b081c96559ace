"""With each provider, a code arrives and can be checked; if the provider fails, the response is 502."""

import json
import logging
from urllib.parse import quote

import httpx2
import pytest
from tests.support.receivers import HANG_UP, api_server, receiving

from holdfast.service.bootstrap.applications import application_of
from holdfast.service.bootstrap.services import build_service
from holdfast.service.bootstrap.stores import open_store
from holdfast.service.settings.secrets import Secrets
from holdfast.service.settings.values import read_settings
from holdfast.service.web.asgi import AsgiEntry

ALICE, PHONE, KEY, TOKEN = "alice@example.com", "+14155552671", "re_secret", "t0ken"


@pytest.fixture
async def start(tmp_path):
    """Return a function that starts services with the same database; keyword arguments are settings."""
    started = []

    def start(**settings):
        environment = {"HOLDFAST_DATA_DIR": str(tmp_path), "HOLDFAST_PUBLIC_URL": "https://vault.localhost", **settings}
        read = read_settings(environment)
        service = build_service(read, Secrets((b"k" * 32,), generated=False), open_store(read))
        application = application_of(read, service)
        transport = httpx2.ASGITransport(AsgiEntry(application), client=("127.0.0.1", 5000))
        http = httpx2.AsyncClient(transport=transport, base_url="https://vault.localhost")
        started.append((http, application))
        return http

    yield start
    for http, application in started:
        await http.aclose()
        await application.stop()


@pytest.fixture(autouse=True)
def nothing_leaks(caplog):
    caplog.set_level(logging.DEBUG)
    yield
    told = "\n".join(
        record.getMessage() + str(record.exc_text) + str(record.__dict__.get("kind", ""))
        for record in caplog.records
        if record.name.startswith("holdfast") and record.name != "holdfast.outbox"
    )
    assert not [word for word in (ALICE, PHONE, KEY, TOKEN) if word in told]


async def send(http, identifier, channel):
    return await http.post("/api/verify/send", json={"identifier": identifier, "channel": channel})


async def check(http, identifier, channel, code):
    return await http.post("/api/verify/check", json={"identifier": identifier, "channel": channel, "code": code})


async def test_by_smtp(start):
    async with receiving() as receiver:
        http = start(HOLDFAST_MAIL_URL=f"smtp://127.0.0.1:{receiver.port}")
        assert (await send(http, ALICE, "email")).json() == {"ok": True, "channel": "email"}
        mail = receiver.message()
        assert (mail["From"], mail["To"]) == ("Holdfast <no-reply@vault.localhost>", ALICE)
        answer = await check(http, ALICE, "email", mail["Subject"][-6:])
        assert answer.json()["verified"] is True


async def test_by_mail_api(start):
    async with api_server() as api:
        http = start(HOLDFAST_MAIL_URL=f"resend://{KEY}@?base_url={quote(api.url)}")
        for outcome in (lambda: api.answers_with(500, {}), lambda: api.answers.extend([HANG_UP, HANG_UP])):
            outcome()
            answer = await send(http, ALICE, "email")
            assert (answer.status_code, answer.json()) == (502, {"error": "email_send_failed"})
        api.answers_with(200, {"id": "x"})
        assert (await send(http, ALICE, "email")).status_code == 200
        code = json.loads(api.requests[-1][2])["subject"][-6:]
        assert (await check(http, ALICE, "email", code)).json()["verified"] is True


async def test_by_twilio(start):
    async with api_server() as api:
        http = start(HOLDFAST_SMS_URL=f"twilio://AC1:{TOKEN}@VA1?base_url={quote(api.url)}")
        api.answers_with(503, b"down")
        answer = await send(http, PHONE, "sms")
        assert (answer.status_code, answer.json()) == (502, {"error": "sms_send_failed"})
        api.answers_with(201, {"status": "pending"})
        assert (await send(http, PHONE, "sms")).json() == {"ok": True, "channel": "sms"}
        api.answers_with(200, {"status": "pending"})
        assert (await check(http, PHONE, "sms", "111111")).json()["verified"] is False
        api.answers += [HANG_UP]
        answer = await check(http, PHONE, "sms", "222222")
        assert (answer.status_code, answer.json()["ok"]) == (502, False)
        api.answers_with(200, {"status": "approved"})
        assert (await check(http, PHONE, "sms", "333333")).json()["verified"] is True
        status = await http.get("/api/verify/status", params={"identifier": PHONE, "channel": "sms"})
        assert status.json()["verified"] is True
