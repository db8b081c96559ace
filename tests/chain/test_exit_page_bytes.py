"""The exit page encodes operations and transactions as the Python client does."""

import pytest
from tests.support.javascript import run_module

from holdfast.chain.transactions import rlp


def text_of(item):
    """Return an item of RLP as JSON has it: numbers as `{n}`, bytes as hex digits."""
    if isinstance(item, int):
        return {"n": str(item)}
    return item.hex() if isinstance(item, bytes) else [text_of(part) for part in item]


@pytest.mark.parametrize(
    "item",
    [0, 1, 127, 128, 255, 256, 1 << 200, b"", b"\0", b"\x7f", b"\x80", b"a" * 55, b"a" * 56, b"a" * 70_000, [], [[], [0, b"a" * 60]]],
    ids=lambda item: repr(item)[:20],
)  # fmt: skip
def test_rlp(item):
    code = """
      const { rlp } = await import("SOURCES/exit/transaction.ts");
      const item = (it) => (Array.isArray(it) ? it.map(item) : typeof it === "string" ? it : BigInt(it.n));
      return rlp(item(given));
    """
    assert run_module(code, text_of(item)) == rlp(item).hex()
