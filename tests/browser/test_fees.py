"""browser/src/chain: who pays for a user operation, decided by pure JavaScript in Node."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.javascript import run_module

OPERATION = {
    "callGasLimit": "0x10", "verificationGasLimit": "0x20", "preVerificationGas": "0x30", "maxFeePerGas": "0x2",
    "signature": "0x",
}  # fmt: skip
NO_PAYMASTER = [None, "", "0x", "0x0", "0x" + "00" * 20, "0x" + "05" * 19, "paymaster"]
SPONSOR = """
  const { Bundler } = await import("SOURCES/chain/bundler.js");
  const { feeIn } = await import("SOURCES/chain/fees.js");
  const bundler = new Bundler({ bundler: async () => given.answer }, "0x00");
  const shown = ({ sponsored, cost }) => ({ sponsored, cost: String(cost) });
  try {
    return shown(feeIn(await bundler.sponsored(given.operation)));
  } catch (error) {
    return { refused: error.message, fee: shown(feeIn({ ...given.operation, ...given.answer })) };
  }
"""


def sponsored(paymaster: str | None) -> Any:
    given = {"operation": {**OPERATION, "paymaster": None}, "answer": {"paymaster": paymaster, "paymasterData": "0x"}}
    return run_module(SPONSOR, given)


def test_a_paymaster_pays() -> None:
    assert sponsored("0x" + "00" * 19 + "01") == {"sponsored": True, "cost": "0"}


@pytest.mark.parametrize("paymaster", NO_PAYMASTER)
def test_a_sponsor_that_names_nobody_does_not_pay(paymaster: str | None) -> None:
    """EntryPoint v0.7 charges the account if the paymaster is the zero address."""
    assert sponsored(paymaster) == {
        "refused": "the sponsor's response has no paymaster",
        "fee": {"sponsored": False, "cost": str(0x60 * 2)},
    }
