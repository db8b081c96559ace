"""For each row of the table of errors, a real request causes that error."""

import asyncio
from types import SimpleNamespace

import pytest
from aiohttp import web
from tests.support.api import DID, MAIL, OTHER_DID, PHONE
from tests.support.curves import X, Y
from tests.support.guarded_account import KEYS, SECRETS
from tests.support.upstreams import upstream

from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.http.large_responses import LargeResponses
from holdfast.service.operations.guarding import Recoverable
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.recoveries import Signable
from holdfast.wire.errors import ERRORS

ACCOUNT = "0x" + "11" * 20
RPC = {"jsonrpc": "2.0", "id": 1, "params": []}


def get(path, **query):
    return lambda api: api.get(path, **query)


def post(path, **body):
    return lambda api: api.post(path, **body)


def register(**fields):
    return lambda api: api.register(**fields)


def with_places(in_all, per_address):
    """Request a large response from a service that has so many places for them."""

    async def ask(api):
        api.application.web.large = LargeResponses(in_all, per_address, send_timeout_s=1, waits_s=0.01)
        return await api.get("/enclave.wasm")

    return ask


def after(ask, *earlier):
    """Send the earlier requests, then one that they cause to be refused."""

    async def asks(api):
        for one in earlier:
            await one(api)
        return await ask(api)

    return asks


def session(name="ann", did=DID, **more):
    return lambda api: api.session(name, did, **more)


def mail_to(name):
    return post("/api/verify/send", ip="10.1.1.1", identifier=f"{name}@example.com", channel="email")


def refused_by_the_provider(path, identifier, channel):
    async def ask(api):
        api.mailer.failure = api.sms.failure = DeliveryError("refused")
        return await api.post(path, identifier=identifier, channel=channel, code="123456")

    return ask


def attested(change, **fields):
    async def ask(api):
        attestation = await api.attested()
        change(api, attestation)
        return await api.register(**{"identifier": MAIL, "channel": "email", "attestation": attestation, **fields})

    return ask


def late(api, _attestation):
    api.clock.now += 301


async def used(api):
    fields = {"identifier": MAIL, "channel": "email", "attestation": await api.attested()}
    await api.register(**fields)
    return await api.register(**fields, credentialId="cred-2")


def with_a_store_that_raises(error):
    async def fails(*_):
        raise error

    async def ask(api):
        api.service.store.registrations = fails
        return await api.get("/api/sessions/status")

    return ask


async def too_slow(api):
    async def body():
        yield b"{"
        await asyncio.sleep(60)

    return await api.http.post("/api/sessions", content=body())


PREDICT, STATE, BALANCE = "/api/accounts/predict", "/api/accounts/state", "/api/balance"
SEND, CHECK, BUNDLER, INDEXER = "/api/verify/send", "/api/verify/check", "/api/bundler", "/api/indexer/health"

NAMED = {"Idempotency-Key": "one"}


async def named_while_the_first_runs(api):
    begun, gate = asyncio.Event(), asyncio.Event()

    async def never(*_):
        begun.set()
        await gate.wait()

    api.mailer.send_code = never
    body = {"identifier": MAIL, "channel": "email", "headers": NAMED}
    first = asyncio.create_task(api.post(SEND, **body))
    await begun.wait()
    answer = await api.post(SEND, **body)
    gate.set()
    await first
    return answer


RECOVERY = {"account": ACCOUNT, "newOwners": ["0x" + "12" * 20]}
ASK_RECOVERY = post("/api/recovery/send", identifier=MAIL, channel="email", **RECOVERY)


def recovering(state):
    """Ask for the service's signature; its store has a request in this state: `none` or `waits`."""

    async def ask(api):
        async def found(*_):
            return Signable(api.clock() + 60, DID) if state == "waits" else None

        async def recoverable(*_):
            return Recoverable(b"", 0, KEYS[0])

        object.__setattr__(api.service.guarding, "chain", SimpleNamespace(recoverable=recoverable))
        object.__setattr__(api.service.guarding, "store", SimpleNamespace(signable=found))
        return await api.post("/api/recovery/sign", **RECOVERY)

    return ask


REQUESTS = {
    "MISSING_RECOVERY_FIELDS": post("/api/recovery/send", identifier=MAIL, channel="email"),
    "MISSING_RECOVERY_CODE": post("/api/recovery/check", request="a" * 32),
    "MISSING_RECOVERY_REQUEST": post("/api/recovery/stop"),
    "MISSING_NEW_OWNERS": post("/api/recovery/sign", account=ACCOUNT),
    "INVALID_NEW_OWNERS": post("/api/recovery/sign", account=ACCOUNT, newOwners=["0x12"]),
    "RECOVERY_NOT_POSSIBLE": ASK_RECOVERY, "RECOVERY_NOT_FOUND": recovering("none"),
    "RECOVERY_WAITS": recovering("waits"), "GUARDIAN_NOT_CONFIGURED": ASK_RECOVERY,
    "RPC_ERROR": get(BALANCE, account=ACCOUNT, token="ETH", chainId="84532"),
    "MISSING_PUBLIC_KEY": get(PREDICT, pubKeyX="1"), "INVALID_PUBLIC_KEY": get(PREDICT, pubKeyX="1", pubKeyY="zz"),
    "INVALID_SALT": get(PREDICT, pubKeyX=X, pubKeyY=Y, salt="-1"), "MISSING_ACCOUNT": get(STATE),
    "INVALID_ACCOUNT": get(STATE, account="0x12"),
    "MISSING_BALANCE_PARAMETERS": get(BALANCE, account=ACCOUNT, token="ETH"),
    "UNSUPPORTED_TOKEN": get(BALANCE, account=ACCOUNT, token="BTC", chainId="8453"),
    "UNSUPPORTED_CHAIN": get(BALANCE, account=ACCOUNT, token="ETH", chainId="1"),
    "USDC_NOT_AVAILABLE": get(BALANCE, account=ACCOUNT, token="USDC", chainId="84532"),
    "MISSING_CREDENTIAL_ID": get("/api/dids/lookup"), "MISSING_ALIAS": get("/api/aliases/check"),
    "MISSING_SESSION_FIELDS": post("/api/sessions", handle="ann"), "IDENTIFIER_RESERVED": session("root"),
    "IDENTIFIER_TAKEN": after(session(did=OTHER_DID), session()),
    "IP_LIMIT_REACHED": after(session("four", ip="10.1.1.1"), *(session(name, ip="10.1.1.1") for name in ("one", "two", "three"))),
    "MISSING_SEND_FIELDS": post(SEND, channel="email"),
    "INVALID_VERIFY_CHANNEL": post(SEND, identifier=MAIL, channel="fax"), "RATE_LIMITED": after(mail_to("d"), *map(mail_to, "abc")),
    "SMS_SEND_FAILED": refused_by_the_provider(SEND, PHONE, "sms"),
    "EMAIL_SEND_FAILED": refused_by_the_provider(SEND, MAIL, "email"),
    "MISSING_CHECK_FIELDS": post(CHECK, identifier=MAIL, channel="email"),
    "MISSING_DID_FIELDS": post("/api/dids", identifier="ann"), "ATTESTATION_INVALID": attested(lambda _, attestation: attestation.update(signature="0x" + "00" * 32)),
    "ATTESTATION_MISMATCH": attested(lambda *_: None, identifier="bob@example.com"),
    "CREDENTIAL_ALREADY_REGISTERED": after(register(), register()),
    "SMS_CHECK_FAILED": refused_by_the_provider(CHECK, PHONE, "sms"), "ATTESTATION_EXPIRED": attested(late),
    "ATTESTATION_USED": used, "REGISTRATION_CLOSED": session(),
    "INVITATION_REQUIRED": session(),
    "INVITATION_INVALID": session(headers={"Holdfast-Invitation": "AAAA"}),
    "ATTESTATION_REQUIRED": register(identifier=MAIL, channel="email"),
    "REGISTRATION_UNPROVEN": register(txHash="0x" + "ab" * 32),
    "MISSING_IDENTIFIER_PARAMETER": get("/api/sessions/check"),
    "MISSING_STATUS_PARAMETERS": get("/api/verify/status", identifier=MAIL),
    "INVALID_CHANNEL": post("/api/sessions", identifier="ann", channel="fax", did=DID),
    "INVALID_IDENTIFIER": post("/api/sessions", handle="a b", did=DID),
    "INVALID_DID": post("/api/sessions", handle="ann", did="did"),
    "INVALID_CREDENTIAL_ID": register(credentialId="x" * 1367), "INVALID_TX_HASH": register(txHash="x" * 129),
    "AMBIGUOUS_REQUEST": lambda api: api.http.get("/healthz", headers=[("host", "a.example"), ("host", "b.example")]),
    "FOREIGN_PAGE": session(headers={"Origin": "https://page.example"}), "INVALID_JSON_RPC": post(BUNDLER, **RPC),
    "RPC_METHOD_NOT_ALLOWED": post(BUNDLER, **RPC, method="eth_call"),
    "UNSUPPORTED_COUNTRY": post(SEND, identifier=PHONE, channel="sms"), "INVALID_IDEMPOTENCY_KEY": session(headers={"Idempotency-Key": "a b"}),
    "IDEMPOTENCY_KEY_IN_USE": named_while_the_first_runs, "IDEMPOTENCY_KEY_REUSED": after(session("bob", headers=NAMED), session(headers=NAMED)),
    "CREDENTIAL_LIMIT_REACHED": after(register(credentialId="x"), *(register(credentialId=f"cred-{n}") for n in range(8))), "NOT_FOUND": get("/nowhere"),
    "METHOD_NOT_ALLOWED": get(BUNDLER), "REQUEST_TIMEOUT": too_slow, "BODY_TOO_LARGE": lambda api: api.http.post("/api/sessions", content=b" " * (64 * 1024 + 1)),
    "INTERNAL_ERROR": with_a_store_that_raises(RuntimeError("a defect")), "BUNDLER_ERROR": post(BUNDLER, **RPC, method="eth_supportedEntryPoints"),
    "INDEXER_ERROR": get(INDEXER), "BUNDLER_NOT_CONFIGURED": post(BUNDLER, **RPC, method="eth_supportedEntryPoints"),
    "INDEXER_NOT_CONFIGURED": get(INDEXER), "WORKFLOW_NOT_CONFIGURED": get("/api/workflow"),
    "DATABASE_UNAVAILABLE": with_a_store_that_raises(StoreUnavailable("gone")), "TOO_MANY_RESPONSES": with_places(1, 0),
    "SERVICE_BUSY": with_places(0, 1),
}  # fmt: skip
NOBODY = "http://127.0.0.1:9"
SETTINGS = {
    "USDC_NOT_AVAILABLE": {"usdc_84532": "none"}, "REGISTRATION_UNPROVEN": {"registration_proof": "required"},
    "UNSUPPORTED_COUNTRY": {"sms_countries": "DE"}, "BUNDLER_ERROR": {"bundler_url": NOBODY},
    "INDEXER_ERROR": {"indexer_url": NOBODY}, "REGISTRATION_CLOSED": {"registration": "closed"},
    "INVITATION_REQUIRED": {"registration": "invitation"}, "INVITATION_INVALID": {"registration": "invitation"},
    "FOREIGN_PAGE": {"own_pages_only": "on"},
}  # fmt: skip


def test_every_row_has_a_request():
    assert set(REQUESTS) == set(ERRORS)


@pytest.mark.parametrize("name", ERRORS)
async def test_a_request_reaches_the_row(make_api, monkeypatch, name):
    monkeypatch.setattr("holdfast.service.web.asgi.BODY_TIMEOUT_S", 0.2)
    monkeypatch.setattr("holdfast.service.operations.idempotency.REPEAT_WAITS_S", 0.1)
    async with upstream() as chain:
        chain.answer = lambda _request, _body: web.json_response({"jsonrpc": "2.0", "id": 1, "result": None})
        secrets = None if name == "GUARDIAN_NOT_CONFIGURED" else SECRETS
        url = NOBODY if name == "RPC_ERROR" else chain.url
        api = make_api(rpc_url=url, secrets=secrets, **SETTINGS.get(name, {}))
        answer = await REQUESTS[name](api)
    row = ERRORS[name]
    assert (answer.status_code, answer.json()["error"]) == (row.status, row.error)
