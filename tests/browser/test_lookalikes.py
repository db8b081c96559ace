"""What the page says about a payee that looks like another: mixed alphabets, digits, earlier payees (run in Node)."""

from __future__ import annotations

from tests.support.javascript import run_module

CODE = """
  const { doubtsAbout } = await import("SOURCES/pages/send/lookalikes.js");
  return given.map(([to, paid]) => doubtsAbout(to, paid));
"""
NONE = {"foreign": False, "digits": "", "alike": ""}
HASH = "0x" + "ab12" + "0" * 56 + "cd34"
CASES: list[tuple[str, list[str], dict[str, object]]] = [
    ("alice", ["bob"], NONE),
    ("alice", ["alice"], NONE),
    ("jörg", [], NONE),
    ("田中tanaka", [], NONE),
    ("p\u0430ypal", [], NONE | {"foreign": True}),  # a Cyrillic a
    ("p\u0430ypal", ["paypal"], NONE | {"foreign": True, "alike": "paypal"}),
    ("paypa1", [], NONE | {"digits": "1"}),
    ("b0bl1", [], NONE | {"digits": "0, 1"}),
    ("agent-007", [], NONE),
    ("paypa1", ["paypal"], NONE | {"digits": "1", "alike": "paypal"}),
    ("barn", ["bam"], NONE | {"alike": "bam"}),
    ("ali\u0307ce", ["alice"], NONE | {"alike": "alice"}),  # one more dot, which does not show
    ("andr\u00e9", ["andre"], NONE),
    ("\u0441\u043e\u043e\u0440", ["coop"], NONE | {"alike": "coop"}),  # entirely Cyrillic
    ("did:web:xn--pypal-4ve.com", [], NONE | {"foreign": True}),
    ("did:web:paypa1.com", ["did:web:paypal.com"], NONE | {"digits": "1", "alike": "did:web:paypal.com"}),
    (f"did:new:{HASH}", [f"did:new:{HASH}"], NONE),
    (f"did:new:{HASH}", [f"did:new:0xab12{'1' * 56}cd34"], NONE | {"alike": f"did:new:0xab12{'1' * 56}cd34"}),
    (f"did:new:{HASH}", [f"did:new:0xab13{'0' * 56}cd34", "0x" + "11" * 20, "bob"], NONE),
]


def test_doubts_about_names_and_dids() -> None:
    answers = run_module(CODE, [[to, paid] for to, paid, _ in CASES])
    for (to, paid, expected), answer in zip(CASES, answers, strict=True):
        assert answer == expected, (to, paid)
