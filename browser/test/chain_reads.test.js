/** What is read of an account from its chain, also from an endpoint that lies (vectors/accounts/chain_reads.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import * as reads from "../src/account/reads.ts";
import { toHex } from "../src/bytes.ts";
import { permissionsOf } from "../src/chain/granted.ts";
import { settingsOf } from "../src/chain/owners.ts";
import { keccak256 } from "../src/did/keccak.ts";
import { vectors } from "./vector_files.js";

const TOPIC = `0x${"dd".repeat(32)}`;
const { cases } = JSON.parse(JSON.stringify(vectors("accounts/chain_reads.json")).replaceAll("$topic", TOPIC));
const vault = { keccak256: async (data) => toHex(keccak256(data)) };
const account = { vault, url: "https://chain.example", address: `0x${"aa".repeat(20)}` };
const numbers = (found) => found && Object.values(found).map(Number);
const READS = {
  exists: () => reads.exists(account),
  settings: async () => numbers(await settingsOf(account.url, account.address)),
  owners: () => reads.ownersOf(account, []),
  guardians: () => reads.guardiansOf(account),
  recovery: async () => {
    const found = await reads.recoveryOf(account);
    return found && [found.readyAt, found.supporters, found.newOwners];
  },
  origin: async () => numbers(await reads.originOf(account, account.address)),
  permissions: () => permissionsOf(account),
  history: () => reads.historyOf(account),
};

/** Makes the chain's endpoint respond with these answers, by method. */
function answering(context, answers) {
  context.mock.method(globalThis, "fetch", async (_url, { body }) => {
    const { id, method } = JSON.parse(body);
    return Response.json({
      jsonrpc: "2.0",
      id,
      result: { eth_getBlockByNumber: { timestamp: "0x1" }, ...answers }[method],
    });
  });
}

for (const { name, read, answers, ...expected } of cases)
  test(name, async (context) => {
    answering(context, answers);
    if ("result" in expected) assert.deepEqual(await READS[read](), expected.result);
    else await assert.rejects(READS[read](), { name: "NetworkError" });
  });

for (const block of [null, {}, { timestamp: 7 }, { timestamp: "7" }])
  test(`a recovery while the newest block is ${JSON.stringify(block)}`, async (context) => {
    const eth_call = `0x${[9, 2, 3].map((it) => it.toString(16).padStart(64, "0")).join("")}`;
    answering(context, { eth_call, eth_getLogs: [], eth_getBlockByNumber: block });
    await assert.rejects(READS.recovery(), { name: "NetworkError" });
  });

for (const [timestamp, url, start] of [
  ["0x5", account.url, 5],
  ["0xffffffffffff", account.url, 9],
  ["x", account.url, 9],
  ["0x5", "", 9],
])
  test(`a permission that is granted at 9 starts at ${start}: newest block ${timestamp} ${url}`, async (context) => {
    context.mock.timers.enable({ apis: ["Date"], now: 9_000 });
    answering(context, { eth_getBlockByNumber: { timestamp } });
    assert.equal(await reads.startOf(url), start);
  });
