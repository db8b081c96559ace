"""The payment window says "nothing was paid" about a failed operation only if that is certain."""

from __future__ import annotations

from tests.support.javascript import run_module

CODE = """
  globalThis.document = { querySelector: () => null };
  const { OperationFailed } = await import("SOURCES/holdfast.js");
  const { refusalOf } = await import("SOURCES/pay/refusals.js");
  return given.map(([message, handedOver]) => refusalOf(new OperationFailed(message), handedOver).code);
"""


def test_a_payment_that_the_bundler_accepted_is_never_called_rejected() -> None:
    told = {
        ("refused: the account has no funds", False): "chain_rejected",
        ("refused: the account has no funds", "perhaps"): "chain_rejected",
        ("refused: too many questions for receipts", "surely"): "unconfirmed",
        ("no receipt in time", "perhaps"): "unconfirmed",
        ("the operation was mined and failed", "surely"): "chain_failed",
    }
    assert run_module(CODE, list(told)) == list(told.values())
