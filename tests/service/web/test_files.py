"""Static files: the enclave and the payment handler's files."""

import json
import re
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import pytest

from holdfast.rules.chains import CHAINS
from holdfast.service.web.prepared import PaymentFacts, prepare
from holdfast.settings.rows import SettingError
from holdfast.wire.models import ContractSet


async def test_the_enclave_is_a_module_with_the_documented_headers(api):
    answer = await api.http.get("/enclave.wasm")
    assert answer.content.startswith(b"\0asm\x01\0\0\0")
    assert answer.headers["content-type"] == "application/wasm"
    assert answer.headers["cache-control"] == "public, max-age=3600, s-maxage=86400"


STATIC_ANSWERS_HAVE_AN_ETAG_AND = [
    "/enclave.wasm", "/api/contracts", "/pay", "/pay/sw.js", "/pay/confirm", "/pay/icon.svg", "/pay/manifest.json",
    "/pay/payment-method.json", "/openapi.json", "/docs", "/docs.js", "/robots.txt", "/favicon.ico",
]  # fmt: skip


async def test_static_answers_have_an_etag_and_answer_304(api):
    for path in STATIC_ANSWERS_HAVE_AN_ETAG_AND:
        etag = (await api.http.get(path)).headers["etag"]
        for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
            again = await api.http.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
            assert again.headers["access-control-allow-origin"] == "*" and "content-length" not in again.headers
        assert (await api.http.get(path, headers={"If-None-Match": '"other"'})).status_code == 200


async def test_the_worker_may_control_its_folder(api):
    answer = await api.http.get("/pay/sw.js")
    assert answer.headers["service-worker-allowed"] == "/pay/"
    assert answer.headers["content-type"].startswith("text/javascript")


async def test_the_payment_method_manifest_is_as_documented(api):
    body = (await api.http.get("/pay/payment-method.json")).json()
    assert body == {"default_applications": [{"platform": "webapp", "manifest_url": "/pay/manifest.json"}]}


async def test_the_well_known_path_leads_there(api):
    answer = await api.http.get("/.well-known/payment-method-manifest")
    assert (answer.status_code, answer.headers["location"]) == (302, "/pay/payment-method.json")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_method_url_links_to_the_manifest(api, method):
    answer = await api.http.request(method, "/pay")
    assert answer.status_code == 200
    assert answer.headers["link"] == '</pay/manifest.json>; rel="payment-method-manifest"'


async def test_the_manifest_is_both_manifests_at_once(api):
    answer = await api.http.get("/pay/manifest.json")
    manifest = json.loads(answer.text)
    assert manifest["default_applications"] == ["/pay/manifest.json"]
    assert manifest["name"] == "Holdfast" and manifest["icons"]
    assert manifest["serviceworker"] == {"src": "/pay/sw.js", "scope": "/pay/", "use_cache": False}
    icon = await api.http.get(manifest["icons"][0]["src"])
    assert icon.headers["cross-origin-resource-policy"] == "cross-origin"


async def test_the_confirm_page_cannot_be_framed_and_runs_only_its_own_script(api):
    headers = (await api.http.get("/pay/confirm")).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe-inline" not in policy
    assert policy.endswith("require-trusted-types-for 'script'; trusted-types hf")
    assert headers["x-frame-options"] == "DENY"


async def test_the_confirm_page_knows_its_chain(api):
    page = (await api.http.get("/pay/confirm")).text
    assert '<meta name="holdfast-chain" content="84532">' in page
    assert '<meta name="holdfast-chain-name" content="Base Sepolia">' in page
    assert '<meta name="holdfast-usdc" content="0x036CbD53842c5426634e7929541eC2318f3dCF7e">' in page
    assert "$" not in page


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


async def test_the_payment_window_shows_no_text_before_its_language_is_known(api):
    page = (await api.http.get("/pay/confirm")).text.partition("<body")[2].partition(">")[2]
    without_script = re.sub(r"<noscript>.*</noscript>", "", page, flags=re.DOTALL)
    assert re.sub(r"<[^>]*>", " ", without_script).split() == ["Holdfast"]


async def test_search_engines_may_read_the_start_page_alone(make_api):
    answer = await make_api().http.get("/robots.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == "User-agent: *\nAllow: /$\nDisallow: /\n"
    assert (await make_api(pages="off").http.get("/robots.txt")).text == "User-agent: *\nDisallow: /\n"


async def test_the_icon_is_where_browsers_look_for_it(make_api):
    api = make_api()
    assert (await api.http.get("/favicon.ico")).content == (await api.http.get("/logo")).content
    answer = await make_api(pages="off").http.get("/favicon.ico")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")


async def test_a_contact_for_vulnerabilities_is_told_if_it_is_set(make_api):
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


@pytest.mark.parametrize("contact", ["security@example.org", "http://example.org", "mailto:a@b.example\nContact: x"])
async def test_what_is_no_contact_is_refused(make_api, contact):
    with pytest.raises(SettingError, match=r"^HOLDFAST_SECURITY_CONTACT: "):
        make_api(security_contact=contact)
