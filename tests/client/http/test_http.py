"""The client's HTTP layer over a fake transport: refusals, addresses, keys and broken responses.

vectors/flows/requests.json says which requests are sent again, and when.
"""

import asyncio
import gzip
import json
import ssl
import tracemalloc
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
import trustme
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from tests.support.curves import X, Y
from tests.support.upstreams import upstream

from holdfast.chain.errors import TransportError
from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import Httpx2Transport
from holdfast.client.async_service_client import AsyncServiceClient
from holdfast.client.blocking.loop import run
from holdfast.client.blocking.service_client import ServiceClient
from holdfast.client.flows.failures import chain_errors
from holdfast.client.http import refusals
from holdfast.client.http.calls import MAX_ANSWER_BYTES, Call, Reply, Retries, as_json, result
from holdfast.client.http.chain_transport import ChainTransport
from holdfast.client.http.transport import HttpTransport
from holdfast.client.types import GetAccountStateInput, GetSmartAccountAddressInput
from holdfast.wire.client_errors import ClientStateError, NetworkError
from holdfast.wire.endpoints import ENDPOINTS
from holdfast.wire.errors import ERRORS

STATUS = {"chain": "Base Sepolia", "chainId": 84532, "rpc": "https://r", "database": "connected"}
ADDRESS = "0x" + "11" * 20
QUICK = Retries(first_s=0.001, longest_s=0.01)


def ask(handler, method, *args, **kwargs):
    options = {
        "transport": httpx2.MockTransport(handler),
        "retries": QUICK,
        "headers": {"Authorization": "of-the-service"},
    }
    with ServiceClient("http://s", **options) as client:
        return getattr(client, method)(*args, **kwargs)


def answering(status, body, headers=None):
    return lambda _request: httpx2.Response(status, json=body, headers=headers)


@pytest.mark.parametrize("name", ERRORS)
def test_every_documented_refusal_is_a_typed_error(name):
    row = ERRORS[name]
    headers = {"Retry-After": "60", "X-Request-Id": "r1"}
    with pytest.raises(refusals.RequestRefused) as caught:
        ask(answering(row.status, {"error": row.error}, headers), "create_session", "a", "handle", "did:new:0x1")
    error = caught.value
    assert (error.code, error.status, error.retry_after_s, error.request_id) == (row.error, row.status, 60.0, "r1")
    assert type(error) is not refusals.RequestRefused
    assert isinstance(error, refusals.InvalidRequest) == (row.status == 400)
    assert str(error) == f"Network: {row.error} ({row.status})"


@pytest.mark.parametrize("body", [b"", b"nope", b"[]", b"{}", b'{"error": 5}', b'"\xff"', b"null"])
def test_a_refusal_without_a_code_keeps_its_status(body):
    with pytest.raises(refusals.RequestRefused) as caught:
        ask(lambda _r: httpx2.Response(418, content=body), "status")
    assert (caught.value.code, caught.value.status) == ("http_418", 418)


@given(st.binary(max_size=60))
def test_no_answer_whatever_raises_anything_but_a_network_error(body):
    call = Call(method="GET", path="/x", read=as_json)
    for status in (200, 302, 400, 502):
        try:
            result(call, Reply(status, {}, body))
        except NetworkError:
            continue


SECRET = "https://user:secret@host/key"
UNTRUSTED = "is not trusted; if its CA is your own, set SSL_CERT_FILE"


def refused_certificate(words):
    """Return the error as httpx2 raises it: the TLS library's own is what caused it."""
    error = httpx2.ConnectError(words)
    error.__cause__ = ssl.SSLCertVerificationError(words)
    return error


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (httpx2.ConnectError(SECRET), "^Network: s: no answer"),
        (httpx2.ReadTimeout(SECRET), "^Network: s: no answer"),
        (httpx2.RemoteProtocolError(SECRET), "^Network: s: no answer"),
        (httpx2.PoolTimeout(SECRET), "^Network: s: no answer"),
        (refused_certificate("[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer certificate"), UNTRUSTED),
        (refused_certificate("\u201cvault.example\u201d certificate is not trusted"), UNTRUSTED),  # as macOS says it
    ],
)
def test_network_failures_name_no_more_than_the_host(broken, said):
    def handler(_request):
        raise broken

    with pytest.raises(NetworkError, match=said) as caught:
        ask(handler, "status")
    assert "secret" not in str(caught.value)


def test_a_closed_client_says_so():
    client = ServiceClient("http://s", transport=httpx2.MockTransport(answering(200, STATUS)))
    client.close()
    client.close()
    with pytest.raises(ClientStateError):
        client.status()


@pytest.mark.parametrize(
    "bad", ["", "localhost:8787", "ftp://x", "http://", "//x", "http://x:99999", "http://x:8787 ", "http://[::1"]
)
def test_addresses_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match=r"^base_url "):
        ServiceClient(bad)


def test_another_service_can_be_asked_and_the_interfaces_inputs_are_taken():
    seen = []

    def handler(request):
        seen.append(str(request.url))
        assert "authorization" not in request.headers, "it is for the client's service"
        state = {"nonce": "1", "did": "0x", "isActive": True, "pubKeyX": "0x1", "pubKeyY": "0x2"}
        return httpx2.Response(200, json={"address": ADDRESS} if "predict" in request.url.path else state)

    key = GetSmartAccountAddressInput(pub_key_x=X, pub_key_y=Y, salt=3, vault_url="http://other")
    account = GetAccountStateInput(account="0x" + "22" * 20, vault_url="http://other")
    assert ask(handler, "get_smart_account_address", X, Y, vault_url="http://other/") == ADDRESS
    assert ask(handler, "get_smart_account_address", key) == ADDRESS
    assert ask(handler, "get_account_state", account).nonce == "1"
    ask(handler, "get_account_state", account, vault_url="http://third")
    predicted = f"http://other/api/accounts/predict?pubKeyX={X}&pubKeyY={Y}&salt="
    state = f"/api/accounts/state?account={account.account}"
    assert seen == [f"{predicted}0", f"{predicted}3", f"http://other{state}", f"http://third{state}"]


def test_no_address_is_asked_for_what_can_be_no_key():
    seen = []
    for x, y in (("0x1", "0x2"), (Y, X), ("0x0", "0x0"), (X, hex(int(Y, 16) + 1))):
        with pytest.raises(ValueError, match="not a point of P-256"):
            ask(seen.append, "get_smart_account_address", GetSmartAccountAddressInput(pub_key_x=x, pub_key_y=y))
    assert seen == []
    with pytest.raises(refusals.RequestRefused):
        ask(answering(400, {"error": "Invalid pubKeyX or pubKeyY"}), "get_smart_account_address", "x", Y)


def test_a_small_compressed_answer_does_not_fill_the_memory():
    bomb = gzip.compress(bytes(64 * 1024 * 1024))

    class Bomb(httpx2.AsyncByteStream):
        async def __aiter__(self):
            yield bomb

    tracemalloc.start()
    try:
        with pytest.raises(NetworkError, match="larger than"):
            ask(lambda _r: httpx2.Response(200, stream=Bomb(), headers={"Content-Encoding": "gzip"}), "enclave_wasm")
        assert tracemalloc.get_traced_memory()[1] < 3 * MAX_ANSWER_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("place", ["https://-.xn--a/", "http:////[a", "https://[::1"])
async def test_a_redirect_to_no_address_is_a_network_error(place):
    answer = httpx2.MockTransport(answering(302, None, {"Location": place}))
    transport = HttpTransport("https://s", transport=answer, retries=QUICK)
    followed = Call(method="GET", path="/a", redirects=1, read=as_json)
    for call in (followed, replace(followed, redirects=0)):
        with pytest.raises(NetworkError):
            await transport.send(call)
    with pytest.raises(NetworkError):
        result(followed, await transport.post("https://s/rpc", b"{}"))
    with pytest.raises(TransportError):
        await Httpx2Transport(httpx2.AsyncClient(transport=answer)).post("https://s/rpc", b"{}")
    await transport.close()


async def test_a_certificate_of_an_own_ca_is_trusted_if_it_is_named(tmp_path, monkeypatch):
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(tls)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    async with upstream(tls=tls) as server:
        server.answer = lambda *_: web.json_response(STATUS)
        address = server.url.replace("127.0.0.1", "localhost")
        async with AsyncServiceClient(address, retries=QUICK) as client:
            with pytest.raises(NetworkError, match=UNTRUSTED):
                await client.status()
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        async with AsyncServiceClient(address, retries=QUICK) as client:
            assert (await client.status()).chain == "Base Sepolia"


@pytest.mark.parametrize("content", [None, "no certificates"])
def test_a_mistyped_file_of_certificates_is_named(tmp_path, monkeypatch, content):
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    for client in (ServiceClient, AsyncServiceClient):
        with pytest.raises(OSError, match="SSL_CERT_FILE cannot be read as certificates in PEM") as caught:
            client("https://vault.example")
        assert caught.value.filename == str(file)


@pytest.mark.parametrize("status", [200, 400])
def test_nested_answers_are_network_errors(status):
    with pytest.raises(NetworkError):
        ask(lambda _request: httpx2.Response(status, content=b'{"x":' + b"[" * 100_000), "status")


def test_programs_can_ask_for_every_route_of_the_interface_but_the_workflow_engines():
    """tools/endpoint_methods.py writes a method for each endpoint that programs call."""
    rows = json.loads((Path(__file__).parents[3] / "interface/routes.json").read_text())["rows"]
    asked = {endpoint.key for endpoint in ENDPOINTS if endpoint.client}
    unasked = {row["path"] for row in rows if (row["method"], row["path"]) not in asked}
    assert {path for path in unasked if path.startswith("/api/")} == {"/api/workflow"}


def test_the_services_headers_and_keys_go_to_the_service_alone():
    """A bundler, paymaster or chain endpoint receives neither the caller's headers nor the service's cookies."""
    seen = {}

    def answer(request):
        seen.setdefault(request.url.host, []).append(dict(request.headers))
        body = {"jsonrpc": "2.0", "result": "0x1", "id": json.loads(request.content)["id"]}
        return httpx2.Response(200, json=body, headers={"Set-Cookie": "service=secret"})

    own = {"Authorization": "Bearer of-the-service"}
    transport = ChainTransport(HttpTransport("https://s", transport=httpx2.MockTransport(answer), headers=own))
    for url in ("https://s/api/bundler", "https://s/api/bundler", "https://bundler.example/key"):
        run(RpcClient(url, transport, batches=False).call("eth_sendUserOperation", []))
    run(RpcClient("https://s/api/bundler", transport, batches=False).call("eth_getUserOperationReceipt", []))
    assert "idempotency-key" not in seen["s"].pop(), "a read needs none"
    assert [it["authorization"] for it in seen["s"]] == ["Bearer of-the-service"] * 2
    assert len({it["idempotency-key"] for it in seen["s"]}) == 2
    [told] = seen["bundler.example"]
    assert not {"authorization", "cookie", "idempotency-key"} & set(told)
    assert told["content-type"] == "application/json"


@pytest.mark.parametrize("url", ["https://s/api/bundler", "https://chain.example/"])
async def test_a_lost_answer_is_told_once(url):
    def lost(_request):
        raise httpx2.ReadError("")

    http = HttpTransport("https://s", transport=httpx2.MockTransport(lost), retries=QUICK)
    with pytest.raises(NetworkError, match=r"^Network: (s|chain\.example): no answer$"), chain_errors():
        await RpcClient(url, ChainTransport(http), delays_s=()).call("eth_chainId")
    await http.close()


@pytest.mark.parametrize("way", ["send", "post"])
async def test_an_answer_that_drips_ends_with_the_whole_request(way):
    """Each byte arrives in time, and the last of them ends the response."""

    class Dripping(httpx2.AsyncByteStream):
        async def __aiter__(self):
            while True:
                yield b"x"
                await asyncio.sleep(0.01)

    answer = httpx2.MockTransport(lambda _: httpx2.Response(200, stream=Dripping()))
    http = HttpTransport("https://s", transport=answer, retries=Retries(attempts=1))
    http.whole_s = 0.05
    call = Call(method="GET", path="/a", read=as_json)
    with pytest.raises(NetworkError, match="whole answer did not arrive in time"):
        await (http.send(call) if way == "send" else http.post(http.base_url, b"{}"))
    await http.close()
