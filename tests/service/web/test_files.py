"""Static files: the enclave, the payment handler's files, the JavaScript client, and files at well-known addresses."""

import json
import re
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import pytest

from holdfast.rules.chains import CHAINS
from holdfast.service.settings.values import read_settings
from holdfast.service.web import client_files
from holdfast.service.web.prepared import PaymentFacts, prepare
from holdfast.settings.rows import SettingError
from holdfast.wire.models import ContractSet


async def test_the_enclave_and_the_payment_manifests_have_the_documented_headers(api):
    answer = await api.http.get("/enclave.wasm")
    assert answer.content.startswith(b"\0asm\x01\0\0\0")
    assert answer.headers["content-type"] == "application/wasm"
    assert answer.headers["cache-control"] == "public, max-age=3600, s-maxage=86400"
    answer = await api.http.get("/pay/manifest.json")
    manifest = json.loads(answer.text)
    assert manifest["default_applications"] == ["/pay/manifest.json"]
    assert manifest["name"] == "Holdfast" and manifest["icons"]
    assert manifest["serviceworker"] == {"src": "/pay/sw.js", "scope": "/pay/", "use_cache": False}
    icon = await api.http.get(manifest["icons"][0]["src"])
    assert icon.headers["cross-origin-resource-policy"] == "cross-origin"
    worker = await api.http.get("/pay/sw.js")
    assert worker.headers["service-worker-allowed"] == "/pay/"
    assert worker.headers["content-type"].startswith("text/javascript")


async def test_static_answers_have_an_etag_and_answer_304(api):
    for path in (
        "/enclave.wasm", "/api/contracts", "/pay", "/pay/sw.js", "/pay/confirm", "/pay/icon.svg", "/pay/manifest.json",
        "/pay/payment-method.json", "/openapi.json", "/docs", "/docs.js", "/robots.txt", "/favicon.ico",
        "/client/worker.js", "/", "/vault", "/connect", "/move", "/pages.css", "/theme.css", "/logo",
        "/client/pages/main.js", "/client/pages/connect.js", "/client/connect.js",
    ):  # fmt: skip
        first = (await api.http.get(path)).headers
        for known in (first["etag"], f"W/{first['etag']}", f'"other", {first["etag"]}', "*"):
            again = await api.http.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first["etag"])
            assert again.headers["access-control-allow-origin"] == "*" and "content-length" not in again.headers
            assert again.headers.get("cross-origin-resource-policy") == first.get("cross-origin-resource-policy")
        assert (await api.http.get(path, headers={"If-None-Match": '"other"'})).status_code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_payment_method_is_found_from_its_url(api, method):
    answer = await api.http.request(method, "/pay", headers={"Accept-Language": "de-AT, en;q=0.5"})
    assert (answer.status_code, answer.headers["vary"].count("Accept-Language")) == (200, 1)
    assert method == "HEAD" or ('lang="de"' in answer.text and "<h1>Mit Holdfast zahlen</h1>" in answer.text)
    assert answer.headers["link"] == '</pay/manifest.json>; rel="payment-method-manifest"'
    answer = await api.http.get("/.well-known/payment-method-manifest")
    assert (answer.status_code, answer.headers["location"]) == (302, "/pay/payment-method.json")
    body = (await api.http.get("/pay/payment-method.json")).json()
    assert body == {"default_applications": [{"platform": "webapp", "manifest_url": "/pay/manifest.json"}]}


async def test_the_confirm_page_cannot_be_framed_runs_only_its_own_script_and_knows_its_chain(api):
    answer = await api.http.get("/pay/confirm")
    policy, page = answer.headers["content-security-policy"], answer.text
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe-inline" not in policy
    assert policy.endswith("require-trusted-types-for 'script'; trusted-types hf")
    assert answer.headers["x-frame-options"] == "DENY"
    assert '<meta name="holdfast-chain" content="84532">' in page
    assert '<meta name="holdfast-chain-name" content="Base Sepolia">' in page
    assert '<meta name="holdfast-usdc" content="0x036CbD53842c5426634e7929541eC2318f3dCF7e">' in page
    assert "$" not in page
    body = re.sub(r"<noscript>.*</noscript>", "", page.partition("<body")[2].partition(">")[2], flags=re.DOTALL)
    assert re.sub(r"<[^>]*>", " ", body).split() == ["Holdfast"], "no text before its language is known"


def test_the_confirm_page_reaches_the_service_and_its_chain_and_escapes_settings():
    contracts = ContractSet(
        chain_id=84532, entry_point="", did_registry="", account_helper="", session_sbt="", app_factory=""
    )
    prepared = prepare(
        contracts, (), PaymentFacts(replace(CHAINS[84532], name='"><b>', public_rpc="https://rpc.example/key?secret"))
    )
    full = prepared.pay_confirm.answer(SimpleNamespace(header=lambda _: None))
    policy = dict(full.headers)["content-security-policy"]
    assert "connect-src 'self' https://rpc.example;" in policy and "secret" not in policy
    assert b"<b>" not in full.body


async def test_search_engines_may_read_the_start_page_alone_and_the_icon_is_where_browsers_look(make_api):
    with_pages, without = make_api().http, make_api(pages="off").http
    answer = await with_pages.get("/robots.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == "User-agent: *\nAllow: /$\nDisallow: /\n"
    assert (await without.get("/robots.txt")).text == "User-agent: *\nDisallow: /\n"
    assert (await with_pages.get("/favicon.ico")).content == (await with_pages.get("/logo")).content
    answer = await without.get("/favicon.ico")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")


async def test_files_at_well_known_addresses(make_api):
    path = "/.well-known/security.txt"
    assert (await make_api().http.get(path)).json() == {"error": "not_found"}
    api = make_api(security_contact="mailto:security@example.org", public_url="http://localhost:8787")
    answer = await api.http.get(path)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    lines = dict(line.split(": ") for line in answer.text.splitlines())
    assert lines["Contact"] == "mailto:security@example.org"
    assert lines["Canonical"] == f"http://localhost:8787{path}"
    left = datetime.fromisoformat(lines["Expires"]).timestamp() - api.clock()
    assert 179 * 86_400 <= left <= 180 * 86_400
    api = make_api(related_origins="https://app.example, https://Shop.example:8443/,https://app.example")
    answer = await api.http.get("/.well-known/webauthn")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"origins": ["https://app.example", "https://shop.example:8443"]}
    assert (await make_api().http.get("/.well-known/webauthn")).json() == {"origins": []}


@pytest.mark.parametrize(("name", "value"), [
    *(("SECURITY_CONTACT", it) for it in ("security@example.org", "http://example.org", "mailto:a@b.example\nContact: x")),
    *(("RELATED_ORIGINS", it) for it in ("app.example", "http://app.example", "https://", "https://app.example/path", "https://u@app.example", "*")),
])  # fmt: skip
def test_what_is_no_contact_and_no_origin_is_refused(name, value):
    with pytest.raises(SettingError, match=f"^HOLDFAST_{name}: "):
        read_settings({f"HOLDFAST_{name}": value})


async def test_the_client_may_be_loaded_by_other_origins_and_nothing_else_is_there(api, make_api, monkeypatch):
    headers = (await api.http.get("/client/worker.js")).headers
    assert headers["access-control-allow-origin"] == "*"
    assert headers["cross-origin-resource-policy"] == "cross-origin"
    assert headers["cross-origin-embedder-policy"] == "require-corp"
    assert headers["cache-control"] == "no-cache"
    assert "script-src 'self' 'wasm-unsafe-eval'" in headers["content-security-policy"]
    refused = await api.http.post("/client/worker.js")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert (await api.http.head("/client/worker.js")).headers["content-length"]
    http = make_api().http
    for name in (
        "", "nothing.js", "../setting_rows.py", "%2e%2e/build.py", "package.json", "vault", "vault/", "/worker.js",
    ):  # fmt: skip
        answer = await http.get(f"/client/{name}")
        assert (answer.status_code, answer.json()) == (404, {"error": "not_found"}), name
    monkeypatch.setattr(client_files, "client_folder", lambda: None)
    assert (await make_api().http.get("/client/holdfast.js")).status_code == 404, "an installation without a client"


async def test_a_checkout_serves_its_build_and_what_is_named_by_its_content_is_kept(make_api, tmp_path, monkeypatch):
    kept = "public, max-age=31536000, immutable"
    caches = {"chunk-7UYRNFA2.js": kept, "holdfast.js": "no-cache", "enclave-host.js": "no-cache"}
    for name in caches:
        (tmp_path / name).write_text(f"export const built = '{name}';")
    monkeypatch.setattr(client_files, "BUILT", tmp_path)
    http = make_api().http
    for name, cache in caches.items():
        answer = await http.get(f"/client/{name}")
        assert (answer.text, answer.headers["cache-control"]) == (f"export const built = '{name}';", cache)
    assert (await http.get("/client/snapshots/main.js")).status_code == 404
