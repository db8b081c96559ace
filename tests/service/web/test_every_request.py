"""Behaviour that is the same for every request: routes, methods, CORS, bodies, request IDs and internal errors."""

import logging
import re

from tests.support.api import error_of

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.web.routes import PREFIX_ROUTES, ROUTES
from holdfast.wire.endpoints import ENDPOINTS, ErrorForm

# The snapshot endpoints follow protocols with different errors, which tests/service/snapshots covers, and a person's have
# the same errors (test_persons.py).
OWN = [route for route in ROUTES if not route.of_snapshots and route.errors_as is not ErrorForm.FAILURE]
GETS = [route.path for route in OWN if "GET" in route.handlers]
POSTS = [route.path for route in OWN if list(route.handlers) == ["POST"]]


def has_cors(response):
    return (
        response.headers.get("access-control-allow-origin") == "*"
        and "access-control-allow-credentials" not in response.headers
    )


async def test_unknown_paths_are_404_and_a_request_id_is_kept_if_it_is_one(api):
    for path in (
        "/x", "/api", "/api/", "/API/status", "/api/status/", "/api/sessions/x", "/pay/", "/enclave.wasm/", "/api/indexer",
        "/metrics",
    ):  # fmt: skip
        answer = await api.http.get(path)
        assert error_of(answer) == (404, "not_found") and has_cors(answer), path
    for given, kept in (("abc-1", True), ("x" * 128, True), ("", False), ("x" * 129, False), ("a b", False)):
        told = (await api.http.get("/healthz", headers={"X-Request-Id": given})).headers["x-request-id"]
        assert (told == given) is kept and (kept or len(told) == 16), given


async def test_every_get_answers_head_with_the_same_headers_and_no_body(api):
    for path in GETS:
        get, head = await api.http.get(path), await api.http.head(path)
        assert head.status_code == get.status_code and head.content == b"", path
        same = {name: value for name, value in get.headers.items() if name != "x-request-id"}
        assert {name: value for name, value in head.headers.items() if name != "x-request-id"} == same, path


async def test_preflights_and_refusals_name_the_allowed_methods(api):
    asks = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    for route in [*ROUTES, *PREFIX_ROUTES]:
        answer = await api.http.options(route.path + ("x" if route in PREFIX_ROUTES else ""), headers=asks)
        assert answer.status_code == 204 and answer.content == b"" and has_cors(answer), route.path
        assert answer.headers["access-control-allow-methods"] == route.allowed, route.path
        assert answer.headers["access-control-max-age"] == "86400", route.path
    for path in [path for path in GETS if path != "/api/workflow"]:
        answer = await api.http.post(path)
        assert error_of(answer) == (405, "method_not_allowed") and has_cors(answer), path
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS", path
    for path in POSTS:
        for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH", "TRACE", "FOO"):
            answer = await api.http.request(method, path)
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST, OPTIONS") and has_cors(answer), path


async def test_a_body_over_64_kib_is_refused(api):
    async def chunks():
        for _ in range(20):
            yield b" " * 8192

    for path in [path for path in POSTS if path != "/api/bundler"]:
        for content in (b" " * 65537, chunks()):
            answer = await api.http.post(path, content=content)
            assert error_of(answer) == (413, "body_too_large") and has_cors(answer), path
        assert (await api.http.post(path, content=b" " * 65536)).status_code == 400, path


async def test_our_own_failure_is_500_and_its_request_id_is_in_the_log(api, monkeypatch, caplog):
    async def boom(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(type(api.service.store), "is_claimed", boom)
    with caplog.at_level(logging.ERROR):
        answer = await api.get("/api/sessions/check", identifier="ann", headers={"X-Request-Id": "find-me"})
    assert error_of(answer) == (500, "internal_error") and has_cors(answer)
    assert [record.request_id for record in caplog.records] == ["find-me"]


async def test_a_store_out_of_reach_is_503(api, monkeypatch):
    async def gone(*_):
        raise StoreUnavailable("gone")

    asked = ("claim_of", "is_claimed", "ping", "open_session", "find_credential", "registrations", "charge", "register")
    for name in asked:
        monkeypatch.setattr(type(api.service.store), name, gone)
    for answer in (
        await api.get("/api/sessions/check", identifier="ann"), await api.session("ann"), await api.register(),
        await api.get("/api/dids/lookup", credentialId="x"), await api.get("/readyz"), await api.get("/api/sessions/status"),
        await api.post("/api/verify/send", identifier="a@b.c", channel="email"),
    ):  # fmt: skip
        assert error_of(answer) == (503, "database_unavailable")
        assert answer.headers["retry-after"] == "1"
    assert (await api.get("/api/status")).json()["database"] == "unavailable"
    assert (await api.get("/healthz")).status_code == 200


async def test_the_openapi_document_is_the_route_table(api):
    paths = (await api.http.get("/openapi.json")).json()["paths"]
    routes = (*ROUTES, *PREFIX_ROUTES)
    served = {(method, route.declared) for route in routes for method in route.handlers if method != "HEAD"}
    told = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert told == served == {endpoint.key for endpoint in ENDPOINTS}
    page = (await api.http.get("/docs")).text
    assert all(path in page for _, path in told)
    assert re.search(r'name="Idempotency-Key" data-in="header" placeholder="', page), "sent twice, it would be a repeat"
    assert re.search(r'name="identifier" data-in="query" value="\w', page)


async def test_odd_queries_never_fail(api):
    for query in ("?%", "?&&&", "?=x", "?identifier=%ff", "?identifier=%E2%82", "?" + "a=b&" * 2000):
        for path in GETS:
            assert (await api.http.get(path + query)).status_code < 500 or path == "/api/workflow", path + query
    await api.session("ann")
    repeated = await api.http.get("/api/sessions/check?identifier=ann&identifier=bob")
    assert repeated.json()["reason"] == "taken", "the first counts"
