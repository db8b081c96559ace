/** A shop's request is refused, with a code, before the person is asked for anything. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { readRequest } from "../src/pay/request.ts";

const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const FACTS = { chainId: 84532, chainName: "Base Sepolia", usdc: USDC };
const DATA = { to: "0x52908400098527886E0F7030069857D2E4169EE7", amount: "12500000", token: USDC, chainId: 84532 };
const asking = (changes) =>
  readRequest(
    { site: "https://shop.example", total: { currency: "USD", value: "12.50" }, data: { ...DATA, ...changes } },
    FACTS,
  );

test("what can be paid is read", () => {
  assert.equal(asking({}).amount, 12_500_000n);
});

for (const [changes, code, values] of [
  [{ amount: "125000000" }, "amount_mismatch"],
  [{ chainId: 8453 }, "wrong_chain", { wanted: "8453", own: "Base Sepolia (84532)" }],
  [{ amount: "-5" }, "bad_request", { what: "what_amount" }],
  [{ amount: "0" }, "bad_request", { what: "what_amount" }],
  [{ token: "USDC" }, "bad_request", { what: "what_token" }],
  [{ to: "bob" }, "bad_request", { what: "what_payee" }],
])
  test(`refused: ${JSON.stringify(changes)}`, () => {
    assert.throws(() => asking(changes), values ? { code, values } : { code });
  });

test("a long label is cut between two characters", () => {
  const start = "x".repeat(119);
  assert.equal(asking({ label: `${start}\u{1f600}` }).label, `${start}\u{1f600}`);
  assert.equal(asking({ label: `${start}\u{1f600}y` }).label, `${start}\u{1f600}…`);
});
