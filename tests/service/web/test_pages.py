"""The HTTP responses for the pages: headers, the operator's settings, and a service without pages."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from holdfast.rules.colours import parse_colour
from holdfast.service.settings.values import read_settings
from holdfast.service.web.page_files import PageChoices, page_files, theme
from holdfast.service.web.prepared import prepare
from holdfast.settings.rows import SettingError
from holdfast.wire.models import ContractSet

CONTRACTS = ContractSet(
    chain_id=84532, entry_point="", did_registry="", account_helper="", session_sbt="", app_factory=""
)
PAGES = ("/", "/vault", "/connect", "/move")
FILES = ("/pages.css", "/theme.css", "/logo")
TEXTS = Path(__file__).parents[3] / "browser" / "src" / "texts"
ROW = re.compile(r'^  ("[\w.]+"):\s+(".*"),$', re.MULTILINE)


def plain(language=None):
    """Return a request with at most one header."""
    return SimpleNamespace(header=lambda name: language if name == "accept-language" else None)


def choices(**changes):
    return PageChoices(
        **{
            "name": "Holdfast", "colour": "#1f5fa8", "logo": None, "address": "http://localhost:8787",
            "did": "did:web:localhost%3A8787", "chain_id": 84532, "usdc": "", "test_money": True, "rpc": "", "languages": ("en", "de"),
            "code_seconds": 90, "code_tries": 5, **changes,
        }
    )  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_has_a_strict_policy_and_cannot_be_framed(api, path):
    answer = await api.http.get(path)
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "unsafe-inline" not in policy and "unsafe-eval'" not in policy.replace("wasm-unsafe-eval", "")
    for part in (
        "default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types hf",
    ):  # fmt: skip
        assert part in policy
    # /connect must communicate with the window that opened it, which is on another origin.
    cut_off = answer.headers.get("cross-origin-opener-policy")
    assert cut_off == (None if path in {"/connect", "/move"} else "same-origin")
    # /connect asks apps to which of their addresses answers may be sent.
    assert ("https: http://localhost:*" in policy) == (path in {"/connect", "/move"})
    assert answer.headers["cross-origin-embedder-policy"] == "require-corp"
    assert "publickey-credentials-create=(self)" in answer.headers["permissions-policy"]
    assert answer.headers["x-frame-options"] == "DENY" and answer.headers["referrer-policy"] == "no-referrer"
    assert "strict-transport-security" not in answer.headers
    assert not re.search(r"<style|style=|<script(?! type=\"module\" src)|\son\w+=", answer.text)


async def test_a_page_names_the_modules_that_its_script_imports_so_that_they_come_together(api):
    client = "/client/holdfast.js"
    for path, modules in (
        ("/", [client]), ("/vault", [client]), ("/connect", [client]), ("/pay/confirm", ["/client/pay/confirm.js", client]),
    ):  # fmt: skip
        page = (await api.http.get(path)).text
        assert re.findall(r'<link rel="modulepreload" href="([^"]+)">', page) == modules
        for module in modules:
            assert (await api.http.get(module)).status_code == 200


async def test_without_pages_their_paths_are_as_before_and_the_payment_page_has_the_operators_look(make_api):
    api = make_api(pages="off", pages_name="Bank")
    for path in (*PAGES, *FILES):
        for method in ("GET", "HEAD", "POST", "OPTIONS"):
            assert (await api.http.request(method, path)).status_code == 404, (method, path)
    assert (await api.http.get("/")).json() == {"error": "not_found"}
    page = (await api.http.get("/pay/confirm")).text
    files = re.findall(r'(?:href|src)="(/[^"]+)"', page)
    assert {(await api.http.get(path)).status_code for path in files} == {200}, "the payment page needs none of them"
    assert "Bank" not in page
    api = make_api(pages_name="Bank <of> Tests", pages_languages="de")
    page = (await api.http.get("/pay/confirm")).text
    assert "Bank &lt;of&gt; Tests" in page and "<of>" not in page
    assert '<link rel="stylesheet" href="/theme.css">' in page and '<img src="/logo"' in page
    assert '<meta name="holdfast-languages" content="de">' in page
    assert '<html lang="de">' in (await api.http.get("/pay", headers={"Accept-Language": "en"})).text
    assert (await api.http.get("/pay/manifest.json")).json()["name"] == "Bank <of> Tests"


@pytest.mark.parametrize(("header", "language"), [
    ("de-AT,de;q=0.9,en;q=0.8", "de"), ("fr, en;q=0.5, de;q=0.7", "de"), ("en-GB,de;q=0.9", "en"),
    ("de;q=0, fr", "en"), ("*", "en"), (", ;q=nan, den", "en"), (None, "en"),
])  # fmt: skip
def test_a_page_begins_in_the_browsers_language(header, language):
    pages = page_files(choices())
    rows = ROW.findall((TEXTS / language / "pages.ts").read_text())
    said = {json.loads(key): json.loads(value) for key, value in rows}
    request = plain(header)
    for page, row in ((pages.start, "start.heading"), (pages.vault, "vault.heading"), (pages.connect, "connect.title")):
        answer = page.answer(request)
        assert f'<html lang="{language}">' in answer.body.decode() and f"<h1>{said[row]}</h1>" in answer.body.decode()
        assert ("vary", "Accept-Language") in list(answer.headers)
    for row in ("start.lead", "connect.waiting"):
        page = pages.start if row == "start.lead" else pages.connect
        assert said[row] in page.answer(request).body.decode()


def test_the_operators_choices_are_in_the_page():
    body = page_files(choices(languages=("de",), name='<b>"$name"')).start.answer(plain("en")).body.decode()
    assert '<html lang="de">' in body and "&lt;b&gt;&quot;$name&quot;" in body and "<b>" not in body, "a name is text"
    headers = dict(page_files(choices(address="https://vault.example")).start.answer(plain()).headers)
    assert headers["strict-transport-security"] == "max-age=63072000"
    assert theme(parse_colour("#8a1c5b")).count("--brand") == 2, "in both modes"


@pytest.mark.parametrize(("name", "value", "why"), [
    ("HOLDFAST_PAGES_COLOUR", "#ffd400", "contrast with white is 1.4:1"),
    ("HOLDFAST_PAGES_COLOUR", "blue", "#rrggbb"),
    ("HOLDFAST_PAGES_NAME", "x" * 41, "1 to 40 printable"),
    ("HOLDFAST_PAGES_NAME", "a\nb", "printable"),
    ("HOLDFAST_PAGES", "yes", "on, off"),
    *(("HOLDFAST_PAGES_LANGUAGES", value, "HOLDFAST_PAGES_LANGUAGES") for value in ("fr", "en,en", ",", "en;de")),
])  # fmt: skip
def test_choices_that_are_refused_at_the_start(name, value, why):
    with pytest.raises(SettingError, match=re.escape(why)) as refused:
        read_settings({name: value})
    assert name in str(refused.value)
    assert read_settings({"HOLDFAST_PAGES_LANGUAGES": "de, en"}).pages_languages == ("de", "en")


def test_a_logo_is_served_and_the_payment_app_has_it_too(tmp_path):
    png, text, large = tmp_path / "a.png", tmp_path / "a.txt", tmp_path / "large.svg"
    png.write_bytes(b"\x89PNG\r\n\x1a\n....")
    text.write_text("no picture")
    large.write_text("<svg>" + " " * 256 * 1024)
    served = dict(page_files(choices(logo=png)).logo.answer(plain()).headers)
    assert served["content-type"] == "image/png" and "sandbox" in served["content-security-policy"]
    for file, why in ((text, "neither SVG nor PNG"), (large, "256 KiB"), (tmp_path / "none", "cannot be read")):
        with pytest.raises(ValueError, match=why):
            page_files(choices(logo=file))
    png = tmp_path / "a.png"
    head = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4) + b"IHDR" + (192).to_bytes(4) + (96).to_bytes(4)
    png.write_bytes(head)
    prepared = prepare(CONTRACTS, pages=page_files(choices(logo=png)))
    (icon,) = json.loads(prepared.pay_manifest.answer(plain()).body)["icons"]
    assert icon == {"src": "/pay/icon.svg", "sizes": "192x96", "type": "image/png"}
    served = prepared.pay_icon.answer(plain())
    headers = dict(served.headers)
    assert served.body == head and headers["content-type"] == "image/png"
    assert headers["cross-origin-resource-policy"] == "cross-origin", "a shop's page loads it"
    usual = prepare(CONTRACTS, pages=page_files(choices()))
    assert json.loads(usual.pay_manifest.answer(plain()).body)["icons"][0]["type"] == "image/svg+xml"


@pytest.mark.parametrize(
    ("language", "words"), [("en", "snapshot file"), ("de", "Momentaufnahme"), ("de", "Sperren "), ("de", " gesperrt")]
)
def test_a_thing_has_one_name(language, words):
    """A person saves a backup file ("Sicherungsdatei"), and a vault is locked ("verschlossen")."""
    assert words not in (TEXTS / language / "pages.ts").read_text()
