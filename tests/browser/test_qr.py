"""The pages' QR codes are the same as those from the encoder segno, at the size limits of all forty QR versions."""

from __future__ import annotations

from typing import Any

import pytest
import segno
from tests.support.javascript import run_module

DRAW = """
  const { qrModules } = await import("SOURCES/kit/qr.js");
  const { blocksOf } = await import("SOURCES/kit/qr_codewords.js");
  return given.map((text) => {
    const { version, level } = blocksOf(new TextEncoder().encode(text));
    return { version, level, rows: qrModules(text).map((row) => row.map(Number).join("")) };
  });
"""


def drawn(texts: list[str]) -> list[dict[str, Any]]:
    codes: list[dict[str, Any]] = run_module(DRAW, texts)
    return codes


def text_of(length: int) -> str:
    return "".join(chr(33 + (7 * at + at // 89) % 94) for at in range(length))


def longest(version: int) -> int:
    """Return how many bytes fit in a QR version at the lowest error correction level, according to segno."""
    bits: int = segno.consts.SYMBOL_CAPACITY[version][segno.consts.ERROR_LEVEL_L]
    return bits // 8 - (2 if version < 10 else 3)


def as_another_draws_it(text: str, code: dict[str, Any]) -> bool:
    """Return whether segno draws the same code with the same mask; all eight masks are valid."""
    mask = int(code["rows"][8][2:5], 2) ^ 0b101  # from the format bits
    chosen = {"version": code["version"], "error": code["level"], "mode": "byte", "boost_error": False}
    made = segno.make_qr(text.encode(), mask=mask, **chosen)
    return ["".join(map(str, row)) for row in made.matrix] == code["rows"]


def standard_padding(buff: Any, _version: int, length: int) -> None:
    buff.extend([0] * (-length % 8))


def test_every_version_is_drawn_as_another_encoder_draws_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # segno 1.6 writes eight superfluous zero bits if the text ends with a whole codeword; readers ignore them.
    monkeypatch.setattr(segno.encoder, "write_padding_bits", standard_padding)
    limits = [longest(version) for version in (*range(1, 12), 20, 26, 27, 32, 39, 40)]
    lengths = [1, 42, *limits, *(it + 1 for it in limits[:-1]), 1024]
    texts = ["did:web:bücher.example 🔑", *(text_of(length) for length in lengths)]
    codes = drawn(texts)
    for text, code in zip(texts, codes, strict=True):
        assert as_another_draws_it(text, code), (len(text.encode()), code["version"], code["level"])
    assert {*range(1, 12), 20, 27, 32, 40} <= {code["version"] for code in codes}


def test_correction_is_better_where_it_costs_no_space() -> None:
    levels = {(code["version"], code["level"]) for code in drawn([text_of(14), text_of(15), text_of(17)])}
    assert levels == {(1, "M"), (1, "L")}


def test_a_text_that_no_code_holds_is_refused() -> None:
    code = """
      const { qrModules } = await import("SOURCES/kit/qr.js");
      try { return qrModules(given); } catch (error) { return error.message; }
    """
    assert run_module(code, text_of(2954)) == "the text is too long for a QR code: 2953 bytes at most"
