/** Who pays for a user operation. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { decimalOf, ether } from "../src/chain/amounts.ts";
import { Bundler } from "../src/chain/bundler.ts";
import { feeIn } from "../src/chain/fees.ts";
import { vectors } from "./vector_files.js";

const OPERATION = {
  callGasLimit: "0x10",
  verificationGasLimit: "0x20",
  preVerificationGas: "0x30",
  maxFeePerGas: "0x2",
  signature: "0x",
  paymaster: null,
};
const answer = (paymaster) => ({ paymaster, paymasterData: "0x" });
const sponsored = (paymaster) => new Bundler({ bundler: async () => answer(paymaster) }, "0x00").sponsored(OPERATION);

test("a paymaster pays", async () => {
  assert.deepEqual(feeIn(await sponsored(`0x${"00".repeat(19)}01`)), { sponsored: true, cost: 0n });
});

// EntryPoint v0.7 charges the account if the paymaster is the zero address.
for (const paymaster of [null, `0x${"00".repeat(20)}`])
  test(`a sponsor that names ${JSON.stringify(paymaster)} does not pay`, async () => {
    await assert.rejects(sponsored(paymaster), { message: "the sponsor named no paymaster" });
    assert.deepEqual(feeIn({ ...OPERATION, ...answer(paymaster) }), { sponsored: false, cost: 0x60n * 2n });
  });

for (const paymaster of ["", "0x", "0x0", `0x${"05".repeat(19)}`, "paymaster"])
  test(`an operation whose paymaster is ${JSON.stringify(paymaster)} is not sponsored`, () => {
    assert.deepEqual(feeIn({ ...OPERATION, ...answer(paymaster) }), { sponsored: false, cost: 0x60n * 2n });
  });

const { wei: COINS, tokens: TOKENS } = vectors("payments/amounts.json");

for (const [amount, decimals, words] of TOKENS)
  test(`${amount} with ${decimals} decimals is ${words}`, () =>
    assert.equal(decimalOf(BigInt(amount), decimals), words));

for (const [wei, words] of COINS) test(`${wei} wei are ${words}`, () => assert.equal(ether(BigInt(wei)), words));
