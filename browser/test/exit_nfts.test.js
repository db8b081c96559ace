/** What a lying node names does not change the calls that the exit page shows and has signed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { executeBatch, hash } from "../src/exit/abi.ts";
import { foundNfts } from "../src/exit/nfts.ts";
import { Node } from "../src/exit/node.ts";

const ACCOUNT = `0x${"aa".repeat(20)}`;
const CONTRACT = `0x${"cc".repeat(20)}`;
const word = (/** @type {bigint | number | string} */ value) => BigInt(value).toString(16).padStart(64, "0");
const transfer = (/** @type {string} */ address) => ({
  address,
  blockNumber: "0x1",
  logIndex: "0x0",
  data: "0x",
  topics: [`0x${hash("Transfer(address,address,uint256)")}`, `0x${word(0)}`, `0x${word(ACCOUNT)}`, `0x${word(7)}`],
});

test("an NFT's contract is an address: more words would be another call", async () => {
  const call = CONTRACT + word(0) + word(96) + word(4) + "deadbeef".padEnd(64, "0");
  const logs = [transfer(call), transfer(CONTRACT.toUpperCase().replace("X", "x")), transfer("0x")];
  const node = /** @type {any} */ ({
    call: async (/** @type {string} */ _, /** @type {any[]} */ [{ topics }]) => (topics.length === 3 ? logs : []),
    word: async () => BigInt(ACCOUNT),
  });
  const found = await foundNfts(node, ACCOUNT);
  assert.deepEqual(
    found?.map(({ contract, id }) => [contract.toLowerCase(), id]),
    [[CONTRACT, 7n]],
  );
});

for (const [name, call] of Object.entries({
  "a receiver of more than an address": { to: CONTRACT + word(0), value: 0n, data: "0x" },
  "more coin than a word holds": { to: CONTRACT, value: 1n << 256n, data: "0x" },
}))
  test(`${name} is not encoded`, () => assert.throws(() => executeBatch([call]), SyntaxError));

test("a number longer than a word is refused", async (context) => {
  context.mock.method(globalThis, "fetch", async () => Response.json({ id: 1, result: `0x1${"0".repeat(64)}` }));
  await assert.rejects(new Node("https://node.example/").quantity("eth_getBalance"), SyntaxError);
});
