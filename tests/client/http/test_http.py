"""The client's HTTP layer over a fake transport, blocking and with asyncio: refusals, retries and broken responses."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import time
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.running_service import shape

from holdfast.client.async_service_client import AsyncServiceClient
from holdfast.client.blocking.loop import run
from holdfast.client.blocking.service_client import ServiceClient
from holdfast.client.http import refusals
from holdfast.client.http.calls import Call, Reply, Retries, as_json, result
from holdfast.client.http.json_rpc import JsonRpcError
from holdfast.client.http.transport import HttpTransport
from holdfast.client.types import GetAccountStateInput, GetSmartAccountAddressInput
from holdfast.wire.client_errors import ClientStateError, NetworkError
from holdfast.wire.endpoints import ENDPOINTS, STATE_ON_CHAIN
from holdfast.wire.errors import ERRORS

STATUS = {"chain": "Base Sepolia", "chainId": 84532, "rpc": "https://r", "database": "connected"}
ROOT = Path(__file__).parents[3]
QUICK = Retries(first_s=0.001, longest_s=0.01)


# The generator of P-256
X = "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
Y = "0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"


class Both:
    """Calls a method in its blocking and its asyncio form, and asserts that the outcome is the same."""

    def __init__(self, handler, retries=QUICK):
        self.handler, self.retries = handler, retries

    def __call__(self, method, *args, **kwargs):
        outcomes = [self._blocking(method, args, kwargs), asyncio.run(self._awaited(method, args, kwargs))]
        assert repr(outcomes[0]) == repr(outcomes[1])
        if isinstance(outcomes[0], Exception):
            raise outcomes[0]
        return outcomes[0]

    def _blocking(self, method, args, kwargs):
        with ServiceClient("http://s", transport=httpx.MockTransport(self.handler), retries=self.retries) as client:
            try:
                return getattr(client, method)(*args, **kwargs)
            except NetworkError as error:
                return error

    async def _awaited(self, method, args, kwargs):
        transport = httpx.MockTransport(self.handler)
        async with AsyncServiceClient("http://s", transport=transport, retries=self.retries) as client:
            try:
                return await getattr(client, method)(*args, **kwargs)
            except NetworkError as error:
                return error


def answering(status, body, headers=None):
    return lambda _request: httpx.Response(status, json=body, headers=headers)


def test_both_forms_have_the_same_methods_with_the_same_parameters():
    assert shape(ServiceClient) == shape(AsyncServiceClient)


def test_answers_are_typed():
    found = Both(answering(200, STATUS))("status")
    assert (found.chain_id, found.database) == (84532, "connected")
    assert found.to_json() == STATUS


@pytest.mark.parametrize("name", ERRORS)
def test_every_documented_refusal_is_a_typed_error(name):
    row = ERRORS[name]
    headers = {"Retry-After": "60", "X-Request-Id": "r1"}
    with pytest.raises(refusals.RequestRefused) as caught:
        Both(answering(row.status, {"error": row.error}, headers))("create_session", "a", "handle", "did:new:0x1")
    error = caught.value
    assert (error.code, error.status, error.retry_after_s, error.request_id) == (row.error, row.status, 60.0, "r1")
    assert type(error) is not refusals.RequestRefused
    assert isinstance(error, refusals.InvalidRequest) == (row.status == 400)
    assert str(error) == f"Network: {row.error} ({row.status})"


def test_every_refusal_class_is_reached_by_a_row():
    reached = {refusals.refusal_class(row.error, row.status) for row in ERRORS.values()}
    classes = {c for c in vars(refusals).values() if isinstance(c, type) and issubclass(c, refusals.RequestRefused)}
    assert classes - reached == {refusals.RequestRefused}


@pytest.mark.parametrize("body", [b"", b"nope", b"[]", b"{}", b'{"error": 5}', b'"\xff"', b"null"])
def test_a_refusal_without_a_code_keeps_its_status(body):
    with pytest.raises(refusals.RequestRefused) as caught:
        Both(lambda _r: httpx.Response(418, content=body))("status")
    assert (caught.value.code, caught.value.status) == ("http_418", 418)


@given(st.binary(max_size=60))
def test_no_answer_whatever_raises_anything_but_a_network_error(body):
    call = Call(method="GET", path="/x", read=as_json)
    for status in (200, 302, 400, 502):
        try:
            result(call, Reply(status, {}, body))
        except NetworkError:
            continue


@pytest.mark.parametrize("body", [[], {"chain": 1}, "x", {**STATUS, "chainId": "84532"}, None])
def test_answers_of_another_form_are_network_errors(body):
    with pytest.raises(NetworkError, match=r"^Network: /api/status did not answer in the documented form"):
        Both(answering(200, body))("status")


@pytest.mark.parametrize(
    "broken", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.PoolTimeout]
)
def test_network_failures_name_no_address(broken):
    def handler(_request):
        raise broken("https://user:secret@host/key")

    with pytest.raises(NetworkError, match=r"^Network: no answer") as caught:
        Both(handler)("status")
    assert "secret" not in str(caught.value)


def counting(failures, failure):
    asked = []

    def handler(request):
        asked.append(request)
        if len(asked) % (failures + 1):
            if isinstance(failure, Exception):
                raise failure
            return httpx.Response(failure, json={"error": "later"}, headers={"Retry-After": "0"})
        return httpx.Response(200, json={**STATUS, "ok": True, "identifier": "a", "channel": "b", "did": "c"})

    return handler, asked


def test_a_certificate_that_is_not_trusted_is_called_that():
    def broken(_request):
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer certificate (_ssl.c:992)")

    with pytest.raises(NetworkError, match="is not trusted; if its CA is your own, set SSL_CERT_FILE"):
        Both(broken)("status")


@pytest.mark.parametrize("failure", [503, 502, 429, 504, httpx.ConnectError("x"), httpx.ReadTimeout("x")])
def test_safe_requests_are_repeated(failure):
    handler, asked = counting(2, failure)
    assert Both(handler)("status").chain_id == 84532
    assert len(asked) == 6


@pytest.mark.parametrize("failure", [503, 502, 429])
def test_refused_requests_that_change_something_are_not_repeated(failure):
    handler, asked = counting(2, failure)
    with pytest.raises(NetworkError):
        Both(handler)("create_session", "a", "handle", "did:new:0x1")
    assert len(asked) == 2


@pytest.mark.parametrize("failure", [httpx.ConnectError("x"), httpx.ReadTimeout("x")])
def test_a_request_whose_answer_was_lost_is_repeated_once_with_its_key(failure):
    handler, asked = counting(1, failure)
    assert Both(handler)("create_session", "a", "handle", "did:new:0x1").ok
    keys = [request.headers["idempotency-key"] for request in asked]
    assert len(keys) == 4 and keys[0] == keys[1] != keys[2] == keys[3]
    handler, asked = counting(9, failure)
    with pytest.raises(NetworkError):
        Both(handler)("create_session", "a", "handle", "did:new:0x1")
    assert len(asked) == 4


def test_a_request_that_still_runs_is_asked_about_again():
    def handler(request):
        asked.append(request.headers["idempotency-key"])
        if len(asked) % 2:
            return httpx.Response(409, json={"error": "idempotency_key_in_use"}, headers={"Retry-After": "0"})
        return httpx.Response(200, json={"ok": True, "identifier": "a", "channel": "b", "did": "c"})

    asked = []
    assert Both(handler)("create_session", "a", "handle", "did:new:0x1").ok
    assert len(asked) == 4 and asked[0] == asked[1] != asked[2]


def test_reading_requests_have_no_key():
    def handler(request):
        asked.append(request)
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": json.loads(request.content)["id"], "result": "0x1"})

    asked = []
    for method in ("eth_getUserOperationReceipt", "eth_sendUserOperation"):
        assert Both(handler)("bundler", method) == "0x1"
    assert ["idempotency-key" in request.headers for request in asked] == [False, False, True, True]


@pytest.mark.parametrize("status", [400, 403, 404, 409, 500])
def test_final_refusals_are_not_repeated(status):
    handler, asked = counting(2, status)
    with pytest.raises(refusals.RequestRefused):
        Both(handler)("status")
    assert len(asked) == 2


def test_waits_double_up_to_a_limit_and_keep_retry_after():
    call, policy = Call(method="GET", path="/", read=as_json), Retries(attempts=9, first_s=1, longest_s=5)
    assert [policy.delay_s(call, NetworkError("x"), attempt) for attempt in (1, 2, 3, 4)] == [1, 2, 4, None]
    late = refusals.RateLimited("rate_limited", 429, retry_after_s=4)
    assert policy.delay_s(call, late, 1) == 4
    never = refusals.RateLimited("rate_limited", 429, retry_after_s=3600)
    assert policy.delay_s(call, never, 1) is None


def test_a_long_retry_after_is_raised_at_once():
    started = time.monotonic()
    with pytest.raises(refusals.RateLimited):
        Both(answering(429, {"error": "rate_limited"}, {"Retry-After": "86400"}), Retries())("status")
    assert time.monotonic() - started < 60


def test_a_closed_client_says_so():
    client = ServiceClient("http://s", transport=httpx.MockTransport(answering(200, STATUS)))
    client.close()
    client.close()
    with pytest.raises(ClientStateError):
        client.status()

    async def closed():
        awaited = AsyncServiceClient("http://s", transport=httpx.MockTransport(answering(200, STATUS)))
        await awaited.close()
        with pytest.raises(ClientStateError):
            await awaited.status()

    asyncio.run(closed())


@pytest.mark.parametrize("bad", ["", "localhost:8787", "ftp://x", "http://", "//x"])
def test_addresses_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match="base_url"):
        ServiceClient(bad)


def test_another_service_can_be_asked():
    seen = []

    def handler(request):
        seen.append(str(request.url))
        return httpx.Response(200, json={"address": "0x" + "11" * 20})

    assert Both(handler)("get_smart_account_address", X, Y, vault_url="http://other/") == "0x" + "11" * 20
    assert seen[0] == f"http://other/api/accounts/predict?pubKeyX={X}&pubKeyY={Y}&salt=0"


def test_no_address_is_returned_for_what_can_be_no_key():
    seen = []

    def handler(request):
        seen.append(str(request.url))
        return httpx.Response(400, json={"error": "Invalid pubKeyX or pubKeyY: expected uint256 hex string"})

    for x, y in (("0x1", "0x2"), (Y, X), ("0x0", "0x0"), (X, hex(int(Y, 16) + 1))):
        with pytest.raises(ValueError, match="not a point of P-256"):
            Both(handler)("get_smart_account_address", GetSmartAccountAddressInput(pub_key_x=x, pub_key_y=y))
    assert seen == []
    with pytest.raises(refusals.RequestRefused):
        Both(handler)("get_smart_account_address", "x", Y)


def test_the_interfaces_inputs_are_taken_as_they_are():
    seen = []

    def handler(request):
        seen.append(str(request.url))
        if "predict" in request.url.path:
            return httpx.Response(200, json={"address": "0x" + "11" * 20})
        state = {"nonce": "1", "did": "0x", "isActive": True, "pubKeyX": "0x1", "pubKeyY": "0x2"}
        return httpx.Response(200, json=state)

    key = GetSmartAccountAddressInput(pub_key_x=X, pub_key_y=Y, salt=3, vault_url="http://other")
    assert Both(handler)("get_smart_account_address", key) == "0x" + "11" * 20
    account = GetAccountStateInput(account="0x" + "22" * 20, vault_url="http://other")
    assert Both(handler)("get_account_state", account).nonce == "1"
    Both(handler)("get_account_state", account, vault_url="http://third")
    wanted = {
        f"http://other/api/accounts/predict?pubKeyX={X}&pubKeyY={Y}&salt=3",
        f"http://other/api/accounts/state?account={account.account}",
        f"http://third/api/accounts/state?account={account.account}",
    }
    assert set(seen) == wanted


def test_names_in_paths_cannot_leave_their_segment():
    seen = []

    def handler(request):
        seen.append(request.url.raw_path)
        return httpx.Response(200, json={"found": False})

    Both(handler)("indexer_did", "../../api/status?x=1#y")
    assert seen[0] == b"/api/indexer/api/dids/..%2F..%2Fapi%2Fstatus%3Fx%3D1%23y"


def test_an_answer_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr("holdfast.client.http.transport.MAX_ANSWER_BYTES", 1000)
    with pytest.raises(NetworkError, match="larger than 1000 bytes"):
        Both(lambda _r: httpx.Response(200, content=b"x" * 2000))("enclave_wasm")


def test_bundler_errors_carry_code_and_data():
    def handler(request):
        asked = json.loads(request.content)
        return httpx.Response(
            200, json={"id": asked["id"], "error": {"code": -32500, "message": "AA23", "data": "0x1"}}
        )

    with pytest.raises(JsonRpcError, match=r"^Network: AA23$") as caught:
        Both(handler)("bundler", "eth_sendUserOperation", [{}, "0x"])
    assert (caught.value.code, caught.value.data) == (-32500, "0x1")


def test_bundler_answers_to_another_request_are_refused():
    with pytest.raises(NetworkError, match="documented form"):
        Both(answering(200, {"jsonrpc": "2.0", "id": 999, "result": "0x1"}))("bundler", "eth_supportedEntryPoints")


def test_every_endpoint_has_a_method_that_asks_it():
    rows = json.loads((ROOT / "interface/routes.json").read_text())["rows"]
    asked = set()

    def handler(request):
        path = re.sub(r"^(/api/indexer/).+", r"\1{path}", request.url.path)
        asked.add((request.method, re.sub(r"^(/api/(?:bundler|accounts/state)/).+", r"\1{chain_id}", path)))
        return httpx.Response(418)

    with ServiceClient("http://s", transport=httpx.MockTransport(handler)) as client:
        for name, method in inspect.getmembers(client, inspect.ismethod):
            if not name.startswith("_") and name != "close":
                needed = {
                    p.name: _any(p) for p in inspect.signature(method).parameters.values() if p.default is p.empty
                }
                with pytest.raises(NetworkError):
                    method(**needed)
    by_hand = {STATE_ON_CHAIN.key}  # its path has a parameter
    assert asked == {endpoint.key for endpoint in ENDPOINTS if endpoint.client} | by_hand
    unasked = {row["path"] for row in rows if (row["method"], row["path"]) not in asked}
    assert {path for path in unasked if path.startswith("/api/")} == {"/api/workflow"}, "only the engine calls it"


def _any(parameter):
    """Return a value that is valid for the parameter."""
    return {} if "Mapping" in str(parameter.annotation) else "1"


def test_the_services_headers_go_to_the_service_alone():
    """A paymaster or chain endpoint receives neither the caller's headers nor the service's cookies."""
    seen = {}

    def answer(request):
        seen[request.url.host] = dict(request.headers)
        return httpx.Response(200, content=b"{}", headers={"Set-Cookie": "service=secret"})

    own = {"Authorization": "Bearer of-the-service"}
    transport = HttpTransport("https://s", transport=httpx.MockTransport(answer), headers=own)

    async def both():
        for url in ("https://s/api/bundler", "https://paymaster.example/key"):
            assert (await transport.post(url, b"{}")).status == 200

    run(both())
    assert seen["s"]["authorization"] == "Bearer of-the-service"
    assert not {"authorization", "cookie"} & set(seen["paymaster.example"])
    assert seen["paymaster.example"]["content-type"] == "application/json"


def test_an_endpoint_that_never_ends_is_cut_off(monkeypatch):
    monkeypatch.setattr("holdfast.client.http.transport.MAX_ANSWER_BYTES", 10)
    mock = httpx.MockTransport(lambda _request: httpx.Response(200, content=b"x" * 11))
    transport = HttpTransport("https://s", transport=mock)
    with pytest.raises(NetworkError, match="larger than 10 bytes"):
        run(transport.post("https://chain.example", b"{}"))
