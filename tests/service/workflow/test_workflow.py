"""Requests with any method to /api/workflow, through Inngest's SDK, in development mode and with signatures."""

import asyncio
import hmac
import json

import jcs
import pytest
from aiohttp import web
from tests.support.api import DID, error_of
from tests.support.heavy_requests import Heavy, Meter, RsgiMeter
from tests.support.serving import PATIENCE_S
from tests.support.upstreams import upstream

from holdfast.service.lifecycle import service as service_module
from holdfast.service.operations.maintenance import ENGINE_LEASE_S
from holdfast.service.settings.values import engine_configured
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.workflow import engine as workflow
from holdfast.service.workflow.engine import engine_address


async def test_without_an_engine_every_method_hears_so(api):
    for method in ("GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "PROPFIND", "TRACE"):
        answer = await api.http.request(method, "/api/workflow")
        assert answer.status_code == 503
        assert method == "HEAD" or error_of(answer) == (503, "workflow_not_configured")


async def test_methods_that_the_sdk_does_not_serve_get_the_handlers_405(engine):
    for method in ("DELETE", "PATCH", "PROPFIND"):
        answer = await engine.http.request(method, "/api/workflow")
        assert error_of(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "GET, HEAD, PUT, POST, OPTIONS"
    preflight = await engine.http.options("/api/workflow")
    assert (preflight.status_code, preflight.headers["allow"]) == (204, "GET, HEAD, PUT, POST, OPTIONS")
    assert (await engine.http.get("/api/workflow")).json()["function_count"] == 2


@pytest.mark.parametrize(("environment", "address"), [
    ({}, None), ({"INNGEST_DEV": "0"}, None), ({"INNGEST_DEV": "False"}, None), ({"INNGEST_EVENT_KEY": "k"}, None),
    ({"INNGEST_DEV": "1"}, "http://127.0.0.1:8288"),
    ({"INNGEST_DEV": "http://engine:8288"}, "http://engine:8288"),
    ({"INNGEST_DEV": "0", "INNGEST_SIGNING_KEY": "signkey-prod-ab"}, "https://api.inngest.com"),
    ({"INNGEST_SIGNING_KEY": "k", "INNGEST_BASE_URL": "https://engine"}, "https://engine"),
])  # fmt: skip
def test_the_service_leaves_its_chores_only_to_an_engine_that_can_call(environment, address):
    assert engine_configured(environment) is (address is not None)
    assert address in {None, engine_address(environment)}


@pytest.fixture(autouse=True)
def _a_log_that_begins_anew(monkeypatch):
    monkeypatch.setattr(workflow, "SPARSE", workflow.Sparse())


@pytest.fixture
def engine(api, monkeypatch):
    monkeypatch.setenv("INNGEST_DEV", "http://127.0.0.1:9")
    return api


@pytest.mark.parametrize("entry", [Meter, RsgiMeter])
@pytest.mark.parametrize("query", ["fnId=é", "fnId=%ff", "ж"])
async def test_an_odd_query_is_no_failure(engine, entry, query):
    asked = Heavy("odd", "GET", f"/api/workflow?{query}", {"host": "a"})
    assert await entry(engine.application).status(asked) == 200


def call(*, steps=None, immediate=True, attempt=0):
    """Return the request body that the workflow engine posts to call a function once."""
    event = {"name": "inngest/scheduled.timer", "data": {}, "id": "e", "ts": 1}
    context = {
        "attempt": attempt, "disable_immediate_execution": not immediate, "run_id": "r", "stack": {"stack": []},
        "use_api": False,
    }  # fmt: skip
    return {"ctx": context, "event": event, "events": [event], "steps": steps or {}, "use_api": False}


def url(function, step="step"):
    return f"/api/workflow?fnId=holdfast-{function}&stepId={step}"


@pytest.mark.parametrize(
    ("function", "step", "key"), [("confirm_registrations", "confirm", "confirmed"), ("expire", "expire", "removed")]
)
async def test_a_function_runs_in_a_step_whose_result_the_engine_keeps(engine, function, step, key):
    await engine.session("ann", DID)
    first = await engine.http.post(url(function), json=call())
    assert first.status_code == 206, first.text
    [operation] = first.json()
    assert (operation["op"], operation["displayName"]) == ("StepRun", step)
    result = operation["data"]
    memo = {operation["id"]: {"data": result}}
    done = await engine.http.post(url(function), json=call(steps=memo))
    assert (done.status_code, done.json()) == (200, result) and key in result


async def test_a_step_that_fails_is_tried_again_and_tells_nothing(engine, monkeypatch, caplog):
    async def broken(_now):
        raise StoreUnavailable("ann@example.com hunter2")

    monkeypatch.setattr(engine.service.store, "expire", broken)
    failed = await engine.http.post(url("expire"), json=call())
    [operation] = failed.json()
    assert (failed.status_code, operation["op"]) == (206, "StepError")
    assert "x-inngest-no-retry" not in failed.headers
    assert "hunter2" not in failed.text and "ann@" not in failed.text
    assert "workflow step failed" in caplog.text
    monkeypatch.undo()
    monkeypatch.setenv("INNGEST_DEV", "http://127.0.0.1:9")
    [operation] = (await engine.http.post(url("expire"), json=call(attempt=1))).json()
    assert operation["op"] == "StepRun"


async def _built_in_runs(api):
    ran = []

    async def work():
        ran.append(True)

    await api.service.maintenance.unless_engine(work)()
    return bool(ran)


@pytest.mark.parametrize(
    ("answer", "status", "handed_over"),
    [({"ok": True, "modified": False}, 200, True), ({"error": "no such key"}, 401, False), ({"ok": False}, 200, False)],
)
async def test_the_chores_are_handed_over_once_the_engine_has_registered(
    make_api, monkeypatch, answer, status, handed_over
):
    async with upstream() as server:
        server.answer = lambda _request, _body: web.json_response(answer, status=status)
        monkeypatch.setenv("INNGEST_DEV", server.url)
        api = make_api()
        told = (await api.http.put("/api/workflow")).status_code
    assert await _built_in_runs(api) is not handed_over
    assert told == 200 or not handed_over
    asked = json.loads(server.requests[0][3])
    steps = {each["id"]: each["steps"]["step"]["retries"] for each in asked["functions"]}
    assert steps == {"holdfast-confirm_registrations": {"attempts": 3}, "holdfast-expire": {"attempts": 3}}


async def test_an_engine_whose_response_never_ends_is_waited_for_no_longer_than_other_upstreams(make_api, monkeypatch):
    async def drips(request, _body):
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.01)

    monkeypatch.setattr(workflow, "PROXY_TIMEOUT_S", 0.3)
    async with upstream() as server, asyncio.timeout(PATIENCE_S):
        server.answer = drips
        monkeypatch.setenv("INNGEST_DEV", server.url)
        api = make_api()
        assert (await api.http.put("/api/workflow")).status_code >= 400
        assert await _built_in_runs(api)


async def test_a_finished_run_hands_over_and_an_engine_that_stays_away_loses_the_chores(engine):
    assert (await engine.http.put("/api/workflow")).status_code >= 400  # no engine listens at this address
    await engine.http.get("/api/workflow")
    await engine.http.post("/api/workflow?fnId=holdfast-none&stepId=step", json=call())
    first = (await engine.http.post(url("expire"), json=call())).json()[0]
    assert await _built_in_runs(engine)  # it is only named, and a single step may have failed
    memo = {first["id"]: {"data": first["data"]}}
    assert (await engine.http.post(url("expire"), json=call(steps=memo))).status_code == 200
    assert not await _built_in_runs(engine)
    engine.clock.now += ENGINE_LEASE_S - 1
    assert not await _built_in_runs(engine)
    engine.clock.now += 1
    assert await _built_in_runs(engine)


async def test_the_built_in_tasks_run_beside_an_engine_that_never_registered(engine, monkeypatch):
    monkeypatch.setattr(service_module, "EXPIRE_EVERY_S", 0.01)
    ran = asyncio.Event()

    async def expire(_now):
        ran.set()
        return 0

    monkeypatch.setattr(engine.service.store, "expire", expire)
    await engine.application.start()
    async with asyncio.timeout(PATIENCE_S):
        await ran.wait()


KEY = "signkey-prod-" + "ab" * 32


@pytest.fixture
def signed(api, monkeypatch):
    """A service with a workflow engine that signs its requests."""
    monkeypatch.delenv("INNGEST_DEV", raising=False)
    monkeypatch.setenv("INNGEST_SIGNING_KEY", KEY)
    return api


def signature(body, at=1_800_000_000):
    """Return a signature as the engine makes it: HMAC-SHA256 over the body in RFC 8785 form and the time."""
    mac = hmac.new(b"ab" * 32, body + str(at).encode(), "sha256")
    return f"t={at}&s={mac.hexdigest()}"


async def test_a_signed_call_that_is_repeated_later_does_not_show_the_engine(signed):
    [first] = (await post_signed(signed, call())).json()
    finished = call(steps={first["id"]: {"data": first["data"]}})
    await post_signed(signed, finished)
    assert not await _built_in_runs(signed)
    signed.clock.now += ENGINE_LEASE_S
    await post_signed(signed, finished)
    assert await _built_in_runs(signed)


async def post_signed(api, value):
    body = jcs.canonicalize(value)
    headers = {"x-inngest-signature": signature(body), "content-type": "application/json"}
    return await api.http.post(url("expire"), content=body, headers=headers)


async def test_a_signed_call_is_answered_with_a_signature_and_may_be_long_but_not_of_many_values(signed):
    for more, status in (("x" * 500_000, 206), ([[]] * 1000, 413), ([0] * 1100, 413)):
        assert (await post_signed(signed, {**call(), "more": more})).status_code == status
    answer = await post_signed(signed, call())
    values = dict(pair.split("=") for pair in answer.headers["x-inngest-signature"].split("&"))
    mac = hmac.new(b"ab" * 32, answer.content + values["t"].encode(), "sha256")
    assert values["s"] == mac.hexdigest()


@pytest.mark.parametrize("given", [
    {}, {"x-inngest-signature": "t=1&s=" + "0" * 64}, {"x-inngest-signature": "t=1&s=%ff%C3%A9"},
    {"x-inngest-signature": "t=" + "9" * 5000 + "&s=a"}, {"x-inngest-signature": "x"}, {"x-inngest-sync-kind": "in_band"},
])  # fmt: skip
@pytest.mark.parametrize("method", ["PUT", "POST"])
async def test_what_is_not_signed_is_refused_without_asking_the_engine(signed, monkeypatch, given, method):
    async with upstream() as server:
        monkeypatch.setenv("INNGEST_API_BASE_URL", server.url)
        monkeypatch.setenv("INNGEST_BASE_URL", server.url)
        answer = await signed.http.request(method, url("expire"), content=b"{}", headers=given)
        assert answer.status_code == 401, answer.text
        assert server.requests == []
    assert await _built_in_runs(signed)


async def test_the_body_of_an_unsigned_call_is_bounded_and_the_log_too(signed, caplog):
    big = b"[" + b"1," * 40_000 + b"1]"
    assert error_of(await signed.http.post(url("expire"), content=big)) == (413, "body_too_large")
    for _ in range(50):
        assert (await signed.http.post(url("expire"), content=b"{}")).status_code == 401
    assert len([record for record in caplog.records if record.name == "inngest"]) <= 5
