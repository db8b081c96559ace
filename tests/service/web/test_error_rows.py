"""Rows of the table of errors that a request reaches and no other test names; tests/tidy/test_tables.py has their bytes."""

import asyncio
from pathlib import Path

import pytest
from tests.support.api import DID, MAIL, error_of
from tests.support.guarded_account import SECRETS

from holdfast.service.delivery.errors import DeliveryError
from holdfast.wire.errors import ERRORS

NAMED = {"Idempotency-Key": "one"}
MAILED = {"identifier": MAIL, "channel": "email"}


async def refused_by_the_provider(api):
    api.mailer.failure = DeliveryError("refused")
    return await api.post("/api/verify/send", **MAILED)


async def too_slow(api):
    async def body():
        yield b"{"
        await asyncio.Event().wait()

    return await api.http.post("/api/sessions", content=body())


async def named_twice(api):
    await api.session("bob", headers=NAMED)
    return await api.session("ann", headers=NAMED)


def get(path, **query):
    return lambda api: api.get(path, **query)


def post(path, **body):
    return lambda api: api.post(path, **body)


REQUESTS = {
    "MISSING_RECOVERY_FIELDS": post("/api/recovery/send", **MAILED),
    "MISSING_RECOVERY_CODE": post("/api/recovery/check", request="a" * 32),
    "MISSING_RECOVERY_REQUEST": post("/api/recovery/stop"),
    "MISSING_ACCOUNT": get("/api/accounts/state"), "MISSING_CREDENTIAL_ID": get("/api/dids/lookup"),
    "MISSING_IDENTIFIER_PARAMETER": get("/api/sessions/check"),
    "MISSING_STATUS_PARAMETERS": get("/api/verify/status", identifier=MAIL),
    "ATTESTATION_REQUIRED": post("/api/dids", credentialId="cred", did=DID, txHash="0xabc", **MAILED),
    "EMAIL_SEND_FAILED": refused_by_the_provider, "IDEMPOTENCY_KEY_REUSED": named_twice, "REQUEST_TIMEOUT": too_slow,
    "AMBIGUOUS_REQUEST": lambda api: api.http.get("/healthz", headers=[("host", "a.example"), ("host", "b.example")]),
    "INDEXER_NOT_CONFIGURED": get("/api/indexer/health"), "WORKFLOW_NOT_CONFIGURED": get("/api/workflow"),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_request_reaches_the_row(make_api, monkeypatch, name):
    monkeypatch.setattr("holdfast.service.web.asgi.BODY_TIMEOUT_S", 0.01)
    answer = await REQUESTS[name](make_api(secrets=SECRETS))
    assert error_of(answer) == (ERRORS[name].status, ERRORS[name].error)


def test_every_other_row_is_named_by_a_test_of_the_service():
    texts = "".join(file.read_text("utf-8") for file in Path(__file__).parents[1].rglob("test_*.py"))
    assert {name for name in ERRORS.keys() - REQUESTS.keys() if ERRORS[name].error not in texts} == set()
