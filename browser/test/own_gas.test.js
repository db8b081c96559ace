/** Which endpoint of a chain is used, and the fees computed from its responses (vectors/service/fees.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { paidByAccount, withFees } from "../src/chain/own_gas.ts";
import { vectors } from "./vector_files.js";

const OPERATION = /** @type {any} */ ({ maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0", callData: "0x" });
/** @param {object | null} elsewhere */
const account = (elsewhere) =>
  /** @type {any} */ ({ contracts: { chainId: 1 }, policy: { rpcUrl: "https://chain.example" }, elsewhere });

test("a price of gas that is not known is the application's to remedy only on the main chain", async () => {
  const [own, others] = [/: name the chain's JSON-RPC endpoint in the gas policy$/, /: the service must name one/];
  await assert.rejects(paidByAccount("", account(null), OPERATION, "no sponsor"), { message: own });
  await assert.rejects(paidByAccount("", account({}), OPERATION, "no sponsor"), { message: others });
});

test("an endpoint of another chain that is not one leaves the fees to a sponsor", async (it) => {
  it.mock.method(globalThis, "fetch", async () => new Response("", { status: 404 })); // is not asked again
  await assert.rejects(withFees("https://chain.example", account(null), OPERATION), { message: /does not return/ });
  assert.equal(await withFees("https://other.example", account({}), OPERATION), OPERATION);
});

const { chainId, answers: usual, cases } = vectors("service/fees.json");
for (const { name, answers, fees } of cases)
  test(`fees: ${name}`, async (it) => {
    it.mock.method(globalThis, "fetch", async (_url, { body }) => {
      const { id, method } = JSON.parse(body);
      const answer = { ...usual, ...answers }[method];
      const [code, message] = answer?.error ?? [];
      return Response.json({ jsonrpc: "2.0", id, ...(code ? { error: { code, message } } : { result: answer }) });
    });
    const asked = withFees("https://chain.example", { ...account(null), contracts: { chainId } }, OPERATION);
    if (!fees) return assert.rejects(asked, { name: "NetworkError" });
    const { maxFeePerGas, maxPriorityFeePerGas } = await asked;
    assert.deepEqual([maxFeePerGas, maxPriorityFeePerGas].map(Number), fees);
  });
