/** The gas that the exit page sets for the calls of an exit. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ordinaryPlan } from "../src/exit/plan.ts";

const TRANSACTION = 21000n; // what a node estimates for one that sends coin, whether or not its receiver exists
const node = /** @type {any} */ ({
  quantity: async (/** @type {string} */ method) => (method === "eth_estimateGas" ? TRANSACTION : 1n),
  call: async () => ({ baseFeePerGas: "0x1" }),
  word: async () => 1n,
});
const KEYS = /** @type {any} */ ({ vault: { signer: `0x${"01".repeat(64)}` }, second: null });
const standing = /** @type {any} */ ({
  account: `0x${"a1".repeat(20)}`,
  tokens: [],
  nfts: [],
  nonce: 0n,
  isDeployed: true,
});

test("coin alone reaches an address that does not exist yet, for which a call pays 25,000 gas more", async () => {
  const { operation } = await ordinaryPlan(node, { ...standing, coin: 5n, deposit: 0n }, KEYS, `0x${"b2".repeat(20)}`);
  assert.ok(BigInt(operation.callGasLimit) >= TRANSACTION + 25000n);
});

test("a call without coin gets what the node estimates, and a tenth", async () => {
  const token = { address: `0x${"c3".repeat(20)}`, balance: 7n };
  const given = { ...standing, tokens: [token], coin: 0n, deposit: 0n };
  const { operation } = await ordinaryPlan(node, given, KEYS, `0x${"b2".repeat(20)}`);
  assert.equal(BigInt(operation.callGasLimit), (TRANSACTION * 11n) / 10n);
});
