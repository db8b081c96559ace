"""The JavaScript client under /client/, and the origins that may use this service's passkeys."""

import os

import pytest
from tests.support.clean_tree import ROOT

from holdfast.service.settings.values import read_settings
from holdfast.service.web import client_files
from holdfast.service.web.client_files import client_folder
from holdfast.settings.rows import SettingError

SOURCES = ROOT / "browser" / "src"


@pytest.fixture
def build(tmp_path, monkeypatch):
    """A checkout's build that is newer than every source."""
    built = tmp_path / "client"
    (built / "pairing").mkdir(parents=True)
    (built / "holdfast.js").write_text("export const built = true;")
    (built / "pairing/libp2p.js").write_text("export const bundled = true;")
    monkeypatch.setattr(client_files, "BUILT", built)
    return built


async def test_a_checkout_serves_its_build(make_api, build):
    assert client_folder() == build
    http = make_api().http
    assert (await http.get("/client/holdfast.js")).text == "export const built = true;"
    assert (await http.get("/client/snapshots/main.js")).status_code == 404


async def test_after_a_change_it_serves_the_sources(make_api, build):
    os.utime(build / "holdfast.js", (0, 0))
    assert client_folder() == SOURCES
    http = make_api().http
    for name in ("holdfast.js", "snapshots/main.js", "pages/main.js"):
        answer = await http.get(f"/client/{name}")
        assert answer.content == (SOURCES / name).read_bytes()
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    # The source of this one imports npm packages.
    assert (await http.get("/client/pairing/libp2p.js")).text == "export const bundled = true;"


async def test_other_origins_may_load_it_and_nothing_of_two_versions_mixes(api):
    headers = (await api.http.get("/client/worker.js")).headers
    assert headers["access-control-allow-origin"] == "*"
    assert headers["cross-origin-resource-policy"] == "cross-origin"
    assert headers["cross-origin-embedder-policy"] == "require-corp"
    assert headers["cache-control"] == "no-cache"
    assert "script-src 'self' 'wasm-unsafe-eval'" in headers["content-security-policy"]
    again = await api.http.get("/client/worker.js", headers={"If-None-Match": headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cross-origin-resource-policy"] == "cross-origin"


async def test_only_what_is_named_by_its_content_is_kept_without_asking(make_api, tmp_path, monkeypatch):
    names = ("chunk-7UYRNFA2.js", "holdfast.js", "enclave-host.js")
    for name in names:
        (tmp_path / name).write_text("export {};")
    monkeypatch.setattr(client_files, "client_folder", lambda: tmp_path)
    http = make_api().http
    caches = {name: (await http.get(f"/client/{name}")).headers["cache-control"] for name in names}
    assert caches == {
        "chunk-7UYRNFA2.js": "public, max-age=31536000, immutable",
        "holdfast.js": "no-cache",
        "enclave-host.js": "no-cache",
    }


@pytest.mark.parametrize(
    "name", ["", "nothing.js", "../setting_rows.py", "%2e%2e/build.py", "package.json", "vault", "vault/", "/worker.js"]
)
async def test_nothing_else_is_there(api, name):
    answer = await api.http.get(f"/client/{name}")
    assert (answer.status_code, answer.json()) == (404, {"error": "not_found"})


async def test_other_methods_are_refused(api):
    answer = await api.http.post("/client/worker.js")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert (await api.http.head("/client/worker.js")).headers["content-length"]


async def test_an_installation_without_a_client_answers_404(make_api, monkeypatch):
    monkeypatch.setattr(client_files, "client_folder", lambda: None)
    assert (await make_api().http.get("/client/holdfast.js")).status_code == 404


async def test_related_origins_are_those_of_the_setting(make_api):
    api = make_api(related_origins="https://app.example, https://Shop.example:8443/,https://app.example")
    answer = await api.http.get("/.well-known/webauthn")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"origins": ["https://app.example", "https://shop.example:8443"]}


async def test_without_the_setting_there_is_none(api):
    assert (await api.http.get("/.well-known/webauthn")).json() == {"origins": []}


@pytest.mark.parametrize(
    "text", ["app.example", "http://app.example", "https://", "https://app.example/path", "https://u@app.example", "*"]
)
def test_what_is_no_origin_stops_the_start(text, tmp_path):
    with pytest.raises(SettingError, match="HOLDFAST_RELATED_ORIGINS: origins as"):
        read_settings({"HOLDFAST_DATA_DIR": str(tmp_path), "HOLDFAST_RELATED_ORIGINS": text})
