"""POST /api/bundler and GET /api/indexer/{path} with upstreams on sockets and in this process."""

import asyncio
import itertools
import json
import sys
import tracemalloc
import types

import pytest
from aiohttp import web
from tests.support.api import error_of
from tests.support.heavy_requests import Heavy, Meter
from tests.support.upstreams import raw_upstream, upstream

from holdfast.rules.allowlists import BUNDLER_METHODS, PAYMASTER_METHODS

BUNDLER, PAYMASTER = "/api/bundler", "/api/paymaster"


def rpc(method="eth_supportedEntryPoints", **more):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": [], **more}


@pytest.fixture
async def bundled(make_api):
    async with upstream() as bundler:
        bundler.answer = lambda _request, body: web.json_response(
            {"jsonrpc": "2.0", "id": 1, "result": json.loads(body)["method"]}
        )
        yield make_api(bundler_url=bundler.url + "/rpc?key=1"), bundler


async def test_allowed_methods_reach_the_bundler(bundled):
    api, bundler = bundled
    for method in sorted(BUNDLER_METHODS):
        answer = await api.post(BUNDLER, **rpc(method, id="x"))
        assert (answer.status_code, answer.json()["result"]) == (200, method)
        sent_method, path, headers, body = bundler.requests[-1]
        assert (sent_method, path) == ("POST", "/rpc?key=1")
        assert json.loads(body) == rpc(method, id="x")
        assert "X-Forwarded-For" not in headers and "Cookie" not in headers
    assert (await api.post(BUNDLER, **rpc(params=["x" * 500_000]))).status_code == 200, "larger than other bodies"
    assert error_of(await api.post(BUNDLER, **rpc(params=["x" * 530_000]))) == (413, "body_too_large")
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32500, "message": "AA21"}}
    bundler.answer = lambda _request, _body: web.json_response(error, status=400)
    answer = await api.post(BUNDLER, **rpc())
    assert (answer.status_code, answer.json()) == (200, error), "an upstream's error answer is the answer"


async def test_the_services_own_sponsor_is_the_paymaster_and_without_it_there_is_none(bundled, monkeypatch):
    api, bundler = bundled
    method = "pm_getPaymasterData"
    assert error_of(await api.post(f"{PAYMASTER}/84532", **rpc(method))) == (404, "not_found")
    assert error_of(await api.post(f"{PAYMASTER}/5", **rpc(method))) == (400, "Unsupported chainId")
    assert bundler.requests == []
    monkeypatch.setattr(api.service.addresses, "of", lambda _address: "hash of the client's address")
    there = api.service.chains.served[84532]

    class Own:
        async def answer(self, request, address):
            assert address == "hash of the client's address"
            return json.dumps({"own": request.method}).encode()

    object.__setattr__(there.relay, "sponsor", Own())
    assert (await api.post(BUNDLER, **rpc("pm_sponsorUserOperation"))).json() == {"own": "pm_sponsorUserOperation"}
    for method in PAYMASTER_METHODS:
        assert (await api.post(f"{PAYMASTER}/84532", **rpc(method))).json() == {"own": method}
        assert error_of(await api.post(BUNDLER, **rpc(method))) == (403, "rpc_method_not_allowed")
    assert error_of(await api.post(f"{PAYMASTER}/84532", **rpc())) == (403, "rpc_method_not_allowed")
    assert bundler.requests == []


OF_ANOTHER_KIND = ({"id": {"a": 1}}, {"id": [1]}, {"id": True}, {"params": "x"}, {"params": 1})


async def test_other_requests_are_refused_and_unusual_values_arrive_as_they_were(bundled):
    api, bundler = bundled
    for method in ("eth_sendTransaction", "", "ETH_supportedEntryPoints", "eth_supportedEntryPoints "):
        assert error_of(await api.post(BUNDLER, **rpc(method))) == (403, "rpc_method_not_allowed")
    for raw in (
        b"", b"[]", b"[{}]", b'"x"', b"{}", b'{"method":5}', b"{", b'{"method":NaN}', b"\xff", b"[" * 100_000,
        json.dumps([rpc()]).encode(), *(json.dumps(rpc(**odd)).encode() for odd in OF_ANOTHER_KIND),
        *(json.dumps(rpc()).replace("[]", f"[{value}]").encode() for value in ("NaN", "Infinity", '"\\ud800"')),
    ):  # fmt: skip
        assert error_of(await api.http.post(BUNDLER, content=raw)) == (400, "Invalid JSON-RPC request"), raw[:40]
    assert bundler.requests == []
    raw = json.dumps(rpc())
    for value in ("1e999", "18446744073709551616", "1.5", "{}", "null", "[" * 500 + "]" * 500):
        assert (await api.http.post(BUNDLER, content=raw.replace("[]", f"[{value}]").encode())).status_code == 200
        assert json.loads(bundler.requests[-1][3])["params"] == [json.loads(value)]


async def test_only_the_four_fields_reach_the_bundler_each_once(bundled):
    """A bundler that ignores the case of field names might use a second `method` that the service has not checked."""
    api, bundler = bundled
    for more in (
        {"METHOD": "eth_sendRawTransaction", "Params": ["0xdead"]}, {"Method": "eth_sendRawTransaction"},
        {"ID": 7, "JSONRPC": "1.0"}, {"m\u0000ethod": "x", "auth": "y", "": 1}, {"\u212aey": 1},
    ):  # fmt: skip
        assert (await api.http.post(BUNDLER, content=json.dumps(rpc() | more))).status_code == 200
        assert list(json.loads(bundler.requests[-1][3]).items()) == list(rpc().items())
    await api.http.post(BUNDLER, content=b'{"method":"eth_supportedEntryPoints"}')
    assert json.loads(bundler.requests[-1][3]) == {"jsonrpc": "2.0", "method": "eth_supportedEntryPoints"}
    twice = b'{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","method":"eth_supportedEntryPoints","params":[]}'
    assert (await api.http.post(BUNDLER, content=twice)).status_code == 200
    assert bundler.requests[-1][3].count(b'"method"') == 1
    twice = twice.replace(b"eth_supportedEntryPoints", b"x").replace(
        b"eth_sendTransaction", b"eth_supportedEntryPoints"
    )
    assert error_of(await api.http.post(BUNDLER, content=twice))[0] == 403


ZERO, PAYS = "0x" + "00" * 20, "0x" + "00" * 19 + "01"
SEND = "eth_sendUserOperation"
FOR_NOTHING = [
    {"sender": PAYS, "paymaster": ZERO, "paymasterData": "0x"},
    {"paymaster": "0X" + "00" * 20},
    {"paymasterAndData": ZERO + "ff" * 60},
    {"paymaster": PAYS, "paymasterAndData": ZERO + "00" * 32},
]


async def test_an_operation_that_the_zero_address_would_pay_is_not_sent_and_others_are(bundled):
    api, bundler = bundled
    error = {"code": -32602, "message": "the zero address is not a paymaster: the account itself would pay"}
    for operation, identity in itertools.product(FOR_NOTHING, (7, "x", None)):
        answer = await api.post(BUNDLER, **rpc(SEND, id=identity, params=[operation, "0x01"]))
        assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": identity, "error": error})
    without = await api.post(BUNDLER, method=SEND, params=[{"paymaster": ZERO}])
    assert without.json()["id"] is None and bundler.requests == []
    for params in (
        [], ["0x"], {"paymaster": ZERO}, [[{"paymaster": ZERO}]], [{}], [{"paymaster": None, "paymasterAndData": "0x"}],
        [{"paymaster": PAYS}], [{"paymasterAndData": PAYS + "00" * 40}], [{"paymasterAndData": ZERO[:-1]}],
        [{"paymaster": ZERO[:-1]}], [{"paymaster": ZERO + "00"}], [{"paymaster": ZERO[2:]}], [{"paymaster": 0}],
        [{"paymaster": [ZERO]}], [{"paymaster": "0x" + " 0" * 20}], [{"x": {"paymaster": ZERO}}],
    ):  # fmt: skip
        assert (await api.post(BUNDLER, **rpc(SEND, params=params))).json()["result"] == SEND
        assert json.loads(bundler.requests[-1][3])["params"] == params


@pytest.fixture
async def metered(make_api):
    async with upstream() as bundler:
        yield make_api(bundler_url=bundler.url, operations_per_address_hour="4"), bundler


CHARGED = ("eth_sendUserOperation", "pm_sponsorUserOperation")


async def test_what_costs_money_counts_on_a_window_of_the_address(metered, make_api):
    api, bundler = metered
    without = make_api(operations_per_address_hour="1")
    for _ in range(3):  # what is refused anyway is not counted
        refused = await without.post(BUNDLER, ip="10.9.9.9", **rpc(CHARGED[0]))
        assert error_of(refused) == (503, "bundler_not_configured")
    for method in CHARGED * 2:
        assert (await api.post(BUNDLER, ip="10.9.9.9", **rpc(method))).status_code == 200
    for method in CHARGED:
        answer = await api.post(BUNDLER, ip="10.9.9.9", **rpc(method))
        assert error_of(answer) == (429, "rate_limited")
        assert answer.headers["retry-after"] == "3600"
    assert len(bundler.requests) == 4
    assert (await api.post(BUNDLER, ip="10.9.9.9", **rpc("eth_estimateUserOperationGas"))).status_code == 200
    assert (await api.post(BUNDLER, ip="10.9.9.8", **rpc(CHARGED[0]))).status_code == 200
    api.clock.now += 3600
    assert (await api.post(BUNDLER, ip="10.9.9.9", **rpc(CHARGED[0]))).status_code == 200


HUGE = b" " * (8 * 2**20 + 1)


async def test_an_upstream_that_talks_nonsense_or_is_down_or_slow_is_502(make_api, monkeypatch):
    async def asked(url):
        api = make_api(bundler_url=url, indexer_url=url)
        answers = [await api.post(BUNDLER, **rpc()), await api.get("/api/indexer/health")]
        return [error_of(answer) if answer.status_code == 502 else answer.status_code for answer in answers]

    both = [(502, "bundler_error"), (502, "indexer_error")]
    assert await asked("http://127.0.0.1:9") == both
    async with upstream() as served:
        for answer, result in (
            (lambda: web.Response(text="<html>"), [both[0], 200]),
            (web.Response, [both[0], 200]),
            (lambda: web.Response(body=HUGE), both),
            (lambda: web.Response(body=b"[" * 2**20), [both[0], 200]),
            (lambda: web.Response(body=b'["\xff' + b'"]' + b" " * 2**20), [both[0], 200]),
        ):
            served.answer = lambda *_, made=answer: made()
            assert await asked(served.url) == result
        monkeypatch.setattr("holdfast.service.upstreams.proxy.PROXY_TIMEOUT_S", 0.2)
        served.answer = lambda *_: asyncio.sleep(1, web.Response())
        assert await asked(served.url) == both


@pytest.mark.parametrize("length", [1, 2**17])
async def test_json_is_judged_by_its_grammar_whatever_its_length(bundled, length):
    """RFC 8259, section 8.2, allows lone surrogates; section 6 no NaN."""
    api, bundler = bundled
    space = " " * length
    for text, status in ((r'["\ud800"]', 200), (r'["\\\uDFFF"]', 200), (r'["\ud80"]', 502), ("[NaN]", 502)):
        bundler.answer = lambda *_, body=text + space: web.Response(text=body)
        assert (await api.post(BUNDLER, **rpc())).status_code == status, text


async def test_no_values_are_made_of_a_long_answer(bundled):
    api, bundler = bundled
    answer = b"[" + b"[]," * 2**20 + b"[]]"
    bundler.answer = lambda _request, _body: web.Response(body=answer)
    tracemalloc.start()
    try:
        assert (await api.post(BUNDLER, **rpc())).content == answer
        assert tracemalloc.get_traced_memory()[1] < 10 * len(answer), "a list in it takes 64 bytes, not 3"
    finally:
        tracemalloc.stop()


@pytest.fixture
async def indexed(make_api):
    async with upstream() as indexer:
        indexer.answer = lambda request, _body: web.json_response({"path": request.raw_path})
        yield make_api(indexer_url=indexer.url, bundler_url=indexer.url), indexer


async def test_allowed_paths_pass(indexed):
    for path in (
        "/api/dids", "/api/dids/did%3Anew%3A0x12", "/api/dids/did%3Aweb%3Aa%253A87", "/api/aliases/ann", "/api/aliases/9%25", "/api/accounts/0x12", "/api/stats", "/api/events",
        "/health",
    ):  # fmt: skip
        answer = await indexed[0].http.get(f"/api/indexer{path}?b=2&a=%20x&a=+")
        assert (answer.status_code, answer.json()) == (200, {"path": f"{path}?b=2&a=%20x&a=+"})


async def test_paths_outside_the_list_are_not_there_and_others_pass_with_octets_encoded(indexed):
    api, indexer = indexed
    for path in (
        "", "/", "/api", "/api/didsx", "/api/dids/", "/api/dids/../x", "/api/dids/%2e%2e/x", "/api/dids/.", "/api//dids",
        "//health", "/api/dids/a%2fb", "/api/dids/a%2Fb", "/api%2fdids", "/api/dids/a%5cb", "/api/dids/a\\b",
        "/api/dids/%252e%252e", "/api/dids/%00", "/api/dids/%0d%0aX", "/metrics", "/api/admin", "/health/x", "/HEALTH",
        "/api/dids/%ff", "/api/dids/..;/admin", "/api/dids/..%3b/admin", "/api/dids/a;b", "/api/dids/%25252525",
        "/api/dids/%25252e%25252e", "/api/dids/a%253bb", "/api/dids/%zz",
    ):  # fmt: skip
        status, body = await raw_get(api, f"/api/indexer{path}")
        assert (status, json.loads(body)) == (404, {"error": "not_found"}), path
    assert indexer.requests == []
    indexer.answer = lambda request, _body: web.json_response(request.raw_path)
    for octets in ("/api/indexer/api/aliases/tête", "/api/indexer/api/aliases/t%C3%AAte"):  # octets beyond ASCII
        assert (await raw_get(api, octets, "a=ж&b=%20"))[1] == b'"/api/aliases/t%C3%AAte?a=%D0%B6&b=%20"'


async def raw_get(api, raw_path, query=""):
    """Send a GET request with a path that no HTTP client normalises."""
    exchange = await Meter(api.application).exchange(Heavy("raw", "GET", f"{raw_path}?{query}"))
    return exchange.status, exchange.body


async def test_status_body_and_content_headers_pass_unchanged(indexed):
    api, indexer = indexed
    headers = {
        "ETag": '"1"', "Cache-Control": "max-age=5", "Set-Cookie": "a=b", "X-Internal": "1", "Connection": "close",
    }  # fmt: skip
    indexer.answer = lambda _request, _body: web.Response(
        status=418, body=b"\x00\xff", content_type="text/odd", headers=headers
    )
    sent = {"Cookie": "c=d", "Authorization": "x", "If-None-Match": '"0"'}
    answer = await api.http.get("/api/indexer/health", headers=sent)
    assert (answer.status_code, answer.content) == (418, b"\x00\xff")
    assert answer.headers["etag"] == '"1"' and answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "set-cookie" not in answer.headers and "x-internal" not in answer.headers
    seen = {name.lower(): value for name, value in indexer.requests[0][2].items()}
    assert "cookie" not in seen and "authorization" not in seen and seen["if-none-match"] == '"0"'
    indexer.answer = lambda _request, _body: web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"})
    assert (await api.http.get("/api/indexer/health")).status_code == 302
    assert len(indexer.requests) == 2, "a redirect is not followed"


PAGE = b"<script>alert(document.domain)</script>"
PLAIN = ("application/json", "Application/JSON; charset=utf-8", "text/plain")
ACTIVE = (
    "text/html", "text/html;charset=utf-8", "application/xhtml+xml", "image/svg+xml", "text/javascript", "application/wasm",
    "application/json, text/html",
)  # fmt: skip


async def test_an_upstreams_answer_is_no_page_of_the_services_origin(indexed):
    api, indexer = indexed
    for content_type in (*PLAIN, *ACTIVE):
        headers = {"Content-Type": content_type, "Content-Security-Policy": "default-src *"}
        indexer.answer = lambda *_, given=headers: web.Response(status=404, body=PAGE, headers=given)
        answer = await api.http.get("/api/indexer/health")
        assert (answer.status_code, answer.content) == (404, PAGE)  # documented: unchanged
        assert answer.headers["content-type"] == (content_type if content_type in PLAIN else "application/octet-stream")
        assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert answer.headers["x-content-type-options"] == "nosniff"
    indexer.answer = lambda _request, _body: web.Response(body=b'"<script>"', content_type="text/html")
    answer = await api.post(BUNDLER, **rpc())
    assert (answer.headers["content-type"], answer.headers["x-content-type-options"]) == ("application/json", "nosniff")


async def test_a_status_that_ends_nothing_is_502_and_control_characters_in_headers_stay_at_the_upstream(make_api):
    """An upstream that switches protocols must not make the client's connection switch."""
    for status in (101, 600, 999):
        raw = b"HTTP/1.1 %d x\r\nUpgrade: x\r\nConnection: upgrade\r\nContent-Length: 2\r\n\r\n{}" % status
        async with raw_upstream(raw) as url:
            assert error_of(await make_api(indexer_url=url).get("/api/indexer/health")) == (502, "indexer_error")
    raw = b'HTTP/1.1 200 OK\r\nETag: "a\x01b"\r\nVary: a,\tb\r\nContent-Length: 2\r\n\r\n{}'
    async with raw_upstream(raw) as url:
        answer = await make_api(indexer_url=url).get("/api/indexer/health")
    assert answer.status_code == 200 and "etag" not in answer.headers and answer.headers["vary"] == "a,\tb"


async def bound_app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    if scope["path"] == "/api/events":
        raise RuntimeError("boom")
    asked = json.dumps([scope["path"], scope["query_string"].decode()]).encode()
    body = HUGE if scope["path"] == "/api/aliases" else asked
    headers = [(b"Content-Type", b"application/json"), (b"Set-Cookie", b"x")]
    await send({"type": "http.response.start", "status": 203, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def binding(monkeypatch):
    module = types.ModuleType("an_indexer")
    module.app = bound_app
    monkeypatch.setitem(sys.modules, "an_indexer", module)
    return "an_indexer:app"


async def test_the_binding_wins_over_the_address(make_api, binding, caplog):
    api = make_api(indexer_app=binding, indexer_url="http://127.0.0.1:9")
    await api.application.start()
    answer = await api.http.get("/api/indexer/api/dids/a%20b?x=1&x=%20")
    assert (answer.status_code, answer.json()) == (203, ["/api/dids/a b", "x=1&x=%20"])
    assert "set-cookie" not in answer.headers
    assert error_of(await api.http.get("/api/indexer/api/events")) == (502, "indexer_error")
    assert error_of(await api.http.get("/api/indexer/api/aliases")) == (502, "indexer_error")
    why = [record.why for record in caplog.records if record.name == "holdfast.proxies"]
    assert why == ["the application failed", "answer too large"]
