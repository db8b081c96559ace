"""Events reach the operator's webhook and the workflow engine at least once, even if these fail or stop."""

import asyncio
import json

import pytest
from aiohttp import web
from standardwebhooks.webhooks import Webhook
from tests.support.receivers import HANG_UP
from tests.support.serving import PATIENCE_S
from tests.support.upstreams import upstream

from holdfast.rules.events import GIVE_UP_S
from holdfast.service.lifecycle import service
from holdfast.service.settings.secrets import new_webhook_secret
from holdfast.service.telemetry import metrics

SECRET = new_webhook_secret()


@pytest.fixture
async def api(provider, make_api):
    made = make_api(events_url=f"webhook+{provider.url}/events", webhook_secret=SECRET)
    await made.service.events[0].subscribe()
    return made


@pytest.fixture(autouse=True)
def numbers():
    metrics.reset()


def hook(api):
    (delivery,) = api.service.events
    return delivery


def received(provider):
    """Return the messages after the foreign library has verified them, with the library's tolerance of five minutes."""
    messages = []
    for first, headers, body in provider.requests:
        assert first == "POST /events HTTP/1.1"
        message = Webhook(SECRET).verify(body.decode(), headers)
        messages.append({**message, "id": headers["webhook-id"]})
    return messages


async def test_a_registration_is_told_with_its_time_and_its_did(api, provider):
    provider.answers_with(204, b"")
    assert (await api.register()).status_code == 200
    await hook(api).run()
    (message,) = received(provider)
    assert message["type"] == "identifier.registered"
    assert message["timestamp"] == "2027-01-15T08:00:00+00:00", "when it happened, not when it was sent"
    assert message["data"] == {"channel": "handle", "identifier": "ann", "did": "did:new:0x" + "11" * 32}
    await hook(api).run()
    assert len(provider.requests) == 1, "what was accepted is not sent again"
    assert metrics.EVENTS.cells == {("webhook", "delivered"): 1}


@pytest.mark.parametrize("status", [302, 500, None])
async def test_an_event_is_sent_until_it_is_accepted_or_three_days_have_passed(api, provider, status, caplog):
    if status is None:
        provider.answers += [HANG_UP, HANG_UP]  # a lost connection is tried once more at once
    else:
        provider.answers_with(status, b"", "Location: /other\r\n")
    await api.register()
    await hook(api).run()
    tried = len(provider.requests)
    await hook(api).run()
    assert len(provider.requests) == tried, "it waits"
    provider.answers_with(200, {})
    api.clock.now += 5
    await hook(api).run()
    assert len({message["id"] for message in received(provider)}) == 1, "each try has the same ID"
    assert metrics.EVENTS.cells == {("webhook", "failed"): 1, ("webhook", "delivered"): 1}
    metrics.reset()
    await api.register(identifier="bob", credentialId="cred-2")
    for after_s in (0, GIVE_UP_S, 0):
        provider.answers_with(500, b"")
        api.clock.now += after_s
        await hook(api).run()
    assert metrics.EVENTS.cells == {("webhook", "failed"): 1, ("webhook", "given_up"): 1}
    assert "events were given up" in caplog.text and "bob" not in caplog.text


async def test_one_event_that_is_refused_does_not_stop_the_others(api, provider):
    for n in range(40):
        api.clock.now += 0.001
        await api.register(credentialId=f"c{n}", identifier=f"name{n}", did=f"did:new:0x{n:064x}")
    for status in (500, *[200] * 40):
        provider.answers_with(status, b"")
    for after_s in (0, 0, 5):  # the first turn ends after the batch in which one was refused
        api.clock.now += after_s
        await hook(api).run()
    assert len({message["data"]["identifier"] for message in received(provider)}) == 40
    assert metrics.EVENTS.cells == {("webhook", "failed"): 1, ("webhook", "delivered"): 40}


async def test_the_engine_gets_events_for_its_functions_even_while_the_webhook_is_silent(
    make_api, provider, monkeypatch
):
    monkeypatch.setenv("INNGEST_DEV", provider.url)
    monkeypatch.setenv("INNGEST_EVENT_KEY", "event-key")
    provider.answers_with(200, {"ids": ["1"], "status": 200})
    asked, ended = asyncio.Event(), asyncio.Event()

    async def silent(_request, _body):
        asked.set()
        await ended.wait()
        return web.Response()

    async with upstream() as other, asyncio.timeout(PATIENCE_S):
        other.answer = silent
        api = make_api(events_url=f"webhook+{other.url}", webhook_secret=SECRET)
        await asyncio.gather(*(delivery.subscribe() for delivery in api.service.events))
        await api.register()
        webhook, engine = api.service.events
        waiting = asyncio.create_task(webhook.run())
        await asked.wait()
        await engine.run()
        ended.set()
        await waiting
    ((first, _, body),) = provider.requests
    assert first == "POST /e/event-key HTTP/1.1"
    event = json.loads(body)
    assert (event["name"], event["data"]["identifier"]) == ("holdfast/identifier.registered", "ann")
    assert event["id"].startswith("evt_") and event["ts"] == 1_800_000_000_000


async def test_the_service_subscribes_before_it_serves_and_without_receivers_nothing_is_recorded(make_api, provider):
    hooked = {"events_url": f"webhook+{provider.url}", "webhook_secret": SECRET}
    for settings, recorded in (({}, []), (hooked, ["registered"])):
        api = make_api(**settings)
        await api.service.start()
        await api.register(identifier=f"name{len(settings)}", credentialId=f"c{len(settings)}")
        assert [row["action"] for row in api.rows() if row["table"] == "outbox"] == recorded


async def test_a_process_that_stops_leaves_delivery_to_the_next_at_once(monkeypatch, make_api, provider):
    """The clock stands still, so that no lease expires."""
    monkeypatch.setattr(service, "DELIVER_EVERY_S", 0.01)
    provider.answers_with(204, b"")
    for number in (1, 2):
        made = make_api(events_url=f"webhook+{provider.url}/events", webhook_secret=SECRET)
        await made.application.start()
        name = f"name{number}"
        assert (await made.register(identifier=name, credentialId=name)).status_code == 200
        async with asyncio.timeout(PATIENCE_S):
            while len(provider.requests) < number:
                await asyncio.sleep(0.01)
        await made.application.stop()
