"""ANY /api/workflow through the official SDK, in its development mode and with signatures."""

from __future__ import annotations

import pytest

from holdfast.service.providers.workflow import engine_configured

from .conftest import DID, Api, error_of


async def test_without_an_engine_it_says_so(api: Api) -> None:
    for method in ("GET", "PUT", "POST"):
        assert error_of(await api.http.request(method, "/api/workflow")) == (503, "workflow_not_configured")


async def test_methods_that_the_sdk_does_not_serve_are_405(api: Api) -> None:
    for method in ("DELETE", "PATCH", "PROPFIND"):
        answer = await api.http.request(method, "/api/workflow")
        assert error_of(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "GET, HEAD, PUT, POST, OPTIONS"


@pytest.mark.parametrize(
    ("environment", "configured"),
    [
        ({}, False),
        ({"INNGEST_DEV": "0"}, False),
        ({"INNGEST_DEV": "False"}, False),
        ({"INNGEST_EVENT_KEY": "k"}, False),
        ({"INNGEST_DEV": "1"}, True),
        ({"INNGEST_DEV": "http://127.0.0.1:8288"}, True),
        ({"INNGEST_DEV": "0", "INNGEST_SIGNING_KEY": "signkey-prod-ab"}, True),
    ],
)
def test_the_service_leaves_its_chores_only_to_an_engine_that_can_call(
    environment: dict[str, str], configured: bool
) -> None:
    assert engine_configured(environment) is configured


@pytest.fixture
def engine(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    monkeypatch.setenv("INNGEST_DEV", "http://127.0.0.1:9")
    return api


async def test_the_engine_can_inspect(engine: Api) -> None:
    answer = await engine.http.get("/api/workflow")
    assert answer.status_code == 200
    assert answer.json()["function_count"] == 2


@pytest.mark.parametrize(("function", "key"), [("confirm_registrations", "pending"), ("expire", "removed")])
async def test_the_engine_can_run_a_function(engine: Api, function: str, key: str) -> None:
    await engine.session("ann", DID)
    call = {
        "ctx": {"attempt": 0, "disable_immediate_execution": True, "run_id": "r", "stack": {"stack": []}, "use_api": False},
        "event": {"name": "inngest/scheduled.timer", "data": {}, "id": "e", "ts": 1},
        "events": [{"name": "inngest/scheduled.timer", "data": {}, "id": "e", "ts": 1}],
        "steps": {},
        "use_api": False,
    }  # fmt: skip
    answer = await engine.http.post(f"/api/workflow?fnId=holdfast-{function}&stepId=step", json=call)
    assert answer.status_code == 200, answer.text
    assert key in answer.json()


async def test_an_unsigned_call_is_refused_when_a_signing_key_is_set(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INNGEST_SIGNING_KEY", "signkey-prod-" + "ab" * 32)
    answer = await api.http.post("/api/workflow?fnId=holdfast-expire&stepId=step", json={})
    assert answer.status_code == 401
