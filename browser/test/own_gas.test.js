/** Whose endpoint of a chain counts: the application's for the service's main chain, only the service's for others. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { paidByAccount, withFees } from "../src/chain/own_gas.js";

const OPERATION = /** @type {any} */ ({ maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0", callData: "0x" });
/** @param {object | null} elsewhere */
const account = (elsewhere) =>
  /** @type {any} */ ({ contracts: { chainId: 1 }, policy: { rpcUrl: "https://chain.example" }, elsewhere });

test("a price of gas that is not known is the application's to remedy only on the main chain", async () => {
  const [own, others] = [/: name the chain's JSON-RPC endpoint in the gas policy$/, /: the service must name one/];
  await assert.rejects(paidByAccount("", account(null), OPERATION, "no sponsor"), { message: own });
  await assert.rejects(paidByAccount("", account({}), OPERATION, "no sponsor"), { message: others });
});

test("an endpoint of another chain that does not answer leaves the fees to a sponsor", async (it) => {
  it.mock.method(globalThis, "fetch", async () => Promise.reject(new TypeError("no answer")));
  await assert.rejects(withFees("https://chain.example", account(null), OPERATION), { message: /does not return/ });
  assert.equal(await withFees("https://other.example", account({}), OPERATION), OPERATION);
});
