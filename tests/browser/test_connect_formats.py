"""The formats of /connect: how the page parses requests, and how the page and the app's server build signed texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.javascript import run_module

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "connect"


def test_the_page_reads_requests_as_the_vectors_say() -> None:
    vectors = json.loads((VECTORS / "requests.json").read_text())
    code = """
      const { readRequest } = await import("SOURCES/connect/request.js");
      return given.cases.map(({ message }) => {
        try { return { read: readRequest(message, given.now) }; } catch ({ code, what }) { return { error: code, what }; }
      });
    """
    seen = run_module(code, vectors)
    wanted = [
        {"read": it["read"]} if "read" in it else {"error": it["error"], "what": it.get("what", "")}
        for it in vectors["cases"]
    ]
    assert {it["name"]: saw for it, saw in zip(vectors["cases"], seen, strict=True)} == {
        it["name"]: want for it, want in zip(vectors["cases"], wanted, strict=True)
    }


def test_the_page_signs_the_text_that_servers_expect() -> None:
    vectors = json.loads((VECTORS / "signatures.json").read_text())
    code = """
      const { signedText } = await import("SOURCES/connect/message.js");
      return signedText({ ...given, issued: new Date(given.issued * 1000 + 999) });
    """
    assert run_module(code, vectors["facts"]) == vectors["message"]


def test_who_may_ask_and_where_the_answer_goes() -> None:
    asked: list[tuple[str, Any, str]] = [
        ("https://app.example", "https://app.example/back?x=1#y", "https://app.example/"),
        ("http://localhost:8000", "http://localhost:8000/", "http://localhost:8000/"),
        ("http://app.example", "http://app.example/", "http://app.example/"),
        ("null", "https://app.example/", ""),
        ("https://app.example/path", "https://app.example/", "https://evil.example/"),
        ("file://", "javascript:alert(1)", "https://app.example/"),
        ("https://user@app.example", "https://user:secret@app.example/", "https://app.example/"),
        ("", None, "https://app.example/"),
        ("https://app.example:444", "https://app.example:444/", "https://app.example/"),
    ]
    code = """
      const { askingOrigin, returnAddress } = await import("SOURCES/connect/request.js");
      const tried = (work) => { try { return String(work()); } catch ({ code }) { return code; } };
      return given.map(([origin, back, referrer]) => [tried(() => askingOrigin(origin).origin), tried(() => returnAddress(back, referrer))]);
    """
    no = "origin_refused"
    assert run_module(code, asked) == [
        ["https://app.example", "https://app.example/back?x=1"],
        ["http://localhost:8000", "http://localhost:8000/"],
        [no, no],
        [no, no],
        [no, no],
        [no, no],
        [no, no],
        [no, no],
        ["https://app.example:444", no],
    ]
