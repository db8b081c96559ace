/** What is signed on the exit page is the operation as the published entry points hash it, and only they say its end. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { hash } from "../src/exit/abi.ts";
import { sendBundled } from "../src/exit/sending.ts";
import { operationHash } from "../src/exit/address.ts";
import { vectors } from "./vector_files.js";

for (const version of ["v07", "v08", "v09"]) {
  const { entryPoint, chainId, vectors: all } = vectors(`user_operations/${version}.json`);
  const unpaid = all.filter(({ userOp: { paymaster, factory } }) => !paymaster && !/^0x7702/.test(factory ?? ""));
  test(`${version}: ${unpaid.length} operations`, () => {
    assert.ok(unpaid.length > 2);
    const of = { chainId, entryPoint };
    for (const { name, userOp, userOpHash } of unpaid) assert.equal(operationHash(userOp, of), userOpHash, name);
  });
}

test("an event of another contract does not say that everything was moved", async () => {
  const { entryPoint, chainId, vectors: all } = vectors("user_operations/v09.json");
  const { userOp, userOpHash } = all.find((it) => !it.userOp.paymaster && !it.userOp.factory);
  const topics = [`0x${hash("UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)")}`, userOpHash];
  const log = { topics, data: `0x${"01".padStart(64, "0").repeat(4)}` };
  const keys = { vault: { signed: async (_operation, computed) => ({ signature: "0x", hash: computed }) } };
  const bundler = { send: async () => {}, wait: async () => ({ transactionHash: "0x01" }) };
  for (const address of [entryPoint, userOp.sender]) {
    const node = { mined: async () => ({ transactionHash: "0x01", logs: [{ ...log, address }] }) };
    const given = [node, bundler, keys, { entryPoint, chainId }, { operation: userOp }];
    const { succeeded } = await sendBundled(.../** @type {[any, any, any, any, any]} */ (given));
    assert.equal(succeeded, address === entryPoint);
  }
});
