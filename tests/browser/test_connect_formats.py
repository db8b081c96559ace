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
        ("https://app.example", "blob:https://app.example/0123", "https://app.example/"),
        ("https://app.example", "https://app.example/" + "x" * 2048, "https://app.example/"),
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
        ["https://app.example", no],
        ["https://app.example", no],
    ]


# Every code point without a visible form is refused, in any position; what an emoji needs is allowed within one.
INVISIBLE = [0xAD, 0x34F, 0x115F, 0x1160, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x2028, 0x202E, 0x2060, 0x206F, 0x2800, 0x3164, 0xFE00,
             0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB, 0x13430, 0x16FE4, 0x1BCA0, 0x1D159, 0x1D173, 0xE0001, *range(0xE0020, 0xE0080), 0xE01EF]  # fmt: skip
VISIBLE = ["Ärger, naïve, Ωμέγα, 日本語, שלום", "👩‍🚀", "👩🏽‍🚀", "❤️‍🔥", "🏃‍♀️", "1️⃣ #️⃣", "©️", "a b\u00a0c"]
HIDDEN = [
    "I log in.\U000e0061\U000e006e\U000e0064",
    "a\u200d👩",
    "👩\u200d",
    "a\ufe0f",
    "#\ufe0f",
    "👩\u200d\u200d🚀",
    "🏴\U000e0067\U000e007f",
]


def test_no_text_or_name_hides_characters() -> None:
    texts = [f"a{chr(point)}b" for point in INVISIBLE] + HIDDEN
    code = """
      const { readRequest } = await import("SOURCES/connect/request.js");
      const message = (request) => ({ state: "0".repeat(32), expires: 60, request });
      const tried = (request) => { try { return String(readRequest(message(request), 0).state.length); } catch ({ what }) { return what; } };
      return given.map((text) => [tried({ name: text }), tried({ sign: { text, challenge: "c".repeat(32) } })]);
    """
    assert run_module(code, VISIBLE) == [["32", "32"]] * len(VISIBLE)
    seen = run_module(code, texts)
    assert {ascii(text): saw for text, saw in zip(texts, seen, strict=True) if saw != ["name", "sign.text"]} == {}


def test_a_shops_words_become_one_plain_line() -> None:
    code = """
      const { readRequest } = await import("SOURCES/pay/request.js");
      const data = { to: "0x52908400098527886E0F7030069857D2E4169EE7", amount: "1", token: "native", chainId: 1 };
      const asked = (label) => ({ site: "https://shop.example", total: { currency: "USD", value: "1" }, data: { ...data, label } });
      return given.map((label) => readRequest(asked(label), { chainId: 1, chainName: "", usdc: "" }).label);
    """
    assert run_module(code, ["Two\n\tbooks \u202e\U000e0061 \u3164\u2800for ada", "\u3164"]) == [
        "Two books for ada",
        "",
    ]


def test_an_answer_goes_only_to_an_address_that_the_app_has_declared() -> None:
    back = "https://app.example/back?x=1"
    cases: list[tuple[dict[str, Any], bool]] = [
        ({"body": json.dumps({"returns": ["https://app.example/", back]})}, True),
        ({"body": json.dumps({"returns": ["/back?x=1"]})}, True),
        (
            {"body": json.dumps({"returns": ["/", "/back", "/back?x=2", 7, None, "https://evil.example/back?x=1"]})},
            False,
        ),
        ({"body": json.dumps({"returns": back})}, False),
        ({"body": json.dumps([back])}, False),
        ({"body": "<!doctype html>"}, False),
        ({"body": json.dumps({"returns": [back]}), "status": 404}, False),
        ({"body": json.dumps({"returns": [back], "more": "x" * 16384})}, False),
        ({"error": "a redirect, or no CORS"}, False),
    ]
    code = """
      const { isDeclared } = await import("SOURCES/connect/declared.js");
      const asked = [];
      const answers = ({ body, status = 200, error }) => async (address, { redirect, credentials, signal }) => {
        asked.push([address, redirect, credentials, signal instanceof AbortSignal]);
        if (error) throw new TypeError(error);
        return new Response(body, { status });
      };
      const told = [];
      for (const [answer] of given.cases) told.push(await isDeclared(new URL(given.back), answers(answer)));
      return { told, asked: [...new Set(asked.map(String))] };
    """
    seen = run_module(code, {"back": back, "cases": cases})
    assert seen["told"] == [wanted for _, wanted in cases]
    assert seen["asked"] == ["https://app.example/.well-known/holdfast-connect,error,omit,true"]
