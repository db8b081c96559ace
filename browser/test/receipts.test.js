/** A payment's receipt is looked for often at first, and seldom later. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Bundler } from "../src/chain/bundler.ts";

const HASH = `0x${"cc".repeat(32)}`;

test("the pauses between looking for a receipt, which is there at the 25th time", async (context) => {
  const pauses = [];
  context.mock.method(globalThis, "setTimeout", (work, ms) => {
    pauses.push(ms);
    queueMicrotask(work);
  });
  const receipt = { userOpHash: HASH, success: true, receipt: { transactionHash: HASH, blockNumber: "0x3" } };
  let looks = 0;
  await new Bundler({ bundler: async () => (++looks < 25 ? null : receipt) }, "0x").wait(HASH);
  assert.equal(pauses.length, 24);
  assert.ok(Math.max(...pauses.slice(0, 19)) <= 150);
  assert.equal(Math.min(...pauses.slice(19)), 1000);
});

test("a bundler that does not answer is not waited for longer than asked", async (context) => {
  const alive = setInterval(() => {}, 1000);
  context.after(() => clearInterval(alive));
  const message = "no receipt of the operation within 0.02 s";
  await assert.rejects(new Bundler({ bundler: () => new Promise(() => {}) }, "0x").wait("0x1", 20), { message });
});

test("a bundler may write hashes in upper case", async () => {
  const answers = {
    eth_sendUserOperation: "0xAB",
    eth_getUserOperationReceipt: {
      userOpHash: "0xAB",
      success: true,
      receipt: { transactionHash: HASH, blockNumber: "0x3" },
    },
  };
  const bundler = new Bundler({ bundler: async (method) => answers[method] }, "0x");
  await bundler.send({}, "0xab");
  assert.equal((await bundler.receipt("0xab")).transactionHash, HASH);
  await assert.rejects(bundler.send({}, "0xac"), { name: "NetworkError" });
});
