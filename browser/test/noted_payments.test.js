/** What the pages note about a payment, and how the vault's list recognises it on the chain. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { namer, isSamePayment } from "../src/pages/vault/values.ts";
import { movedBy, readRequest } from "../src/pay/request.ts";

const [PAYEE, TOKEN, USDC] = ["1", "2", "3"].map((digit) => `0x${digit.repeat(40)}`);
const SHOUTED = PAYEE.toUpperCase();
const TIME = "2026-01-02T03:04:05Z";
const NOTED = { to: "did:new:0x1", address: PAYEE, amount: "5", symbol: "USDC", time: TIME, state: "confirmed" };

for (const [token, moved] of [
  [USDC, { amount: "12.5", symbol: "USDC" }],
  ["native", { amount: "0.0000000000125", symbol: "ETH" }],
  [TOKEN, { amount: "12500000", symbol: TOKEN }],
])
  test(`what a payment moved is noted, and not the shop's price: ${token}`, () => {
    const data = { to: PAYEE, amount: "12500000", token, chainId: 1 };
    const asked = { site: "https://shop.example", total: { currency: "EUR", value: "11.00" }, data };
    assert.deepEqual(movedBy(readRequest(asked, { chainId: 1, chainName: "", usdc: USDC })), moved);
  });

for (const [note, same] of [
  [{}, true],
  [{ amount: "5.00" }, true],
  [{ state: "sent" }, true],
  [{ amount: "5.000001" }, false],
  [{ symbol: "ETH" }, false],
  [{ symbol: TOKEN }, false],
  [{ address: TOKEN }, false],
  [{ state: "failed" }, false],
  [{ time: "2026-01-02T05:04:05Z" }, false],
])
  test(`a noted payment with ${JSON.stringify(note)} is ${same ? "" : "not "}the transfer`, () => {
    const transfer = { to: SHOUTED.replace("X", "x"), amount: "5000000", time: TIME };
    assert.equal(isSamePayment({ ...NOTED, ...note }, transfer), same);
  });

for (const [note, shown] of [
  [{}, "did:new:0x1"],
  [{ to: PAYEE, address: null }, PAYEE],
  [{ state: "sent" }, SHOUTED],
  [{ state: "failed" }, SHOUTED],
  [{ shop: "shop.example" }, SHOUTED],
  [{ address: TOKEN }, SHOUTED],
])
  test(`after a payment with ${JSON.stringify(note)}, its address is named ${shown}`, () => {
    assert.equal(namer([{ ...NOTED, ...note }])(SHOUTED), shown);
  });

test("an address is named as in the last confirmed payment to it", () => {
  assert.equal(namer([{ ...NOTED, to: "before" }, NOTED])(SHOUTED), "did:new:0x1");
});
