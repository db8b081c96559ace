"""What the pages note about a payment, and how the vault's list recognises it on the chain. Runs without a browser."""

from __future__ import annotations

import pytest
from tests.support.javascript import run_module

PAYEE, TOKEN, USDC = ("0x" + digit * 40 for digit in "123")
TIME, NOTED = "2026-01-02T03:04:05Z", {"to": "did:new:0x1", "address": PAYEE, "amount": "5", "symbol": "USDC"}


@pytest.mark.parametrize(
    ("token", "moved"),
    [
        (USDC, {"amount": "12.5", "symbol": "USDC"}),
        ("native", {"amount": "0.0000000000125", "symbol": "ETH"}),
        (TOKEN, {"amount": "12500000", "symbol": TOKEN}),
    ],
)
def test_what_a_payment_moved_is_noted_and_not_the_shops_own_price(token, moved):
    code = """
      const { movedBy, readRequest } = await import("SOURCES/pay/request.js");
      return movedBy(readRequest(given.asked, given.facts));
    """
    data = {"to": PAYEE, "amount": "12500000", "token": token, "chainId": 1}
    asked = {"site": "https://shop.example", "total": {"currency": "EUR", "value": "11.00"}, "data": data}
    assert run_module(code, {"asked": asked, "facts": {"chainId": 1, "chainName": "", "usdc": USDC}}) == moved


@pytest.mark.parametrize(
    ("note", "same"),
    [
        ({}, True),
        ({"amount": "5.00"}, True),
        ({"state": "sent"}, True),
        ({"amount": "5.000001"}, False),
        ({"symbol": "ETH"}, False),
        ({"symbol": TOKEN}, False),
        ({"address": TOKEN}, False),
        ({"state": "failed"}, False),
        ({"time": "2026-01-02T05:04:05Z"}, False),
    ],
)
def test_a_noted_payment_is_a_transfer_only_if_the_currency_is_the_same_too(note, same):
    code = """
      const { isSamePayment } = await import("SOURCES/pages/vault/values.js");
      return isSamePayment(given.note, given.transfer);
    """
    noted = {**NOTED, "time": TIME, "state": "confirmed", **note}
    transfer = {"to": PAYEE.upper().replace("X", "x"), "amount": "5000000", "time": TIME}
    assert run_module(code, {"note": noted, "transfer": transfer}) is same


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ({}, "did:new:0x1"),
        ({"to": PAYEE, "address": None}, PAYEE),
        ({"state": "sent"}, PAYEE.upper()),
        ({"state": "failed"}, PAYEE.upper()),
        ({"shop": "shop.example"}, PAYEE.upper()),
        ({"address": TOKEN}, PAYEE.upper()),
    ],
)
def test_an_address_is_named_as_in_the_last_confirmed_payment_to_it(note, shown):
    code = """
      const { namer } = await import("SOURCES/pages/vault/values.js");
      return namer(given.sent)(given.address);
    """
    row = {**NOTED, "time": TIME, "state": "confirmed", **note}
    sent = [{**NOTED, "to": "before", "state": "confirmed"}] if not note else []
    assert run_module(code, {"sent": [*sent, row], "address": PAYEE.upper()}) == shown
