/** Servers that respond slowly, endlessly or wrongly: each request has limits, and ends with an error of the client. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import "./dom.js";
import { logs } from "../src/chain/logs.ts";
import { ask } from "../src/chain/rpc.ts";
import { NetworkError } from "../src/errors.ts";
import { ServiceClient } from "../src/holdfast.ts";
import { Http } from "../src/http/http.ts";
import { Gateways } from "../src/snapshots/gateway.ts";
import { nameOf } from "../src/snapshots/names.ts";

const WITHIN_MS = 100;

/** Runs `work` with the address of a server that begins each response at once and never ends it. */
async function dripping(work) {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).write("{");
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await work(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

for (const [what, sent] of [
  ["a read of a block", (url) => new Http(url).send({ method: "GET", path: "/ipfs/bafkqaaa", timeout: WITHIN_MS })],
  ["a list of pins", (url) => new Http(url).json({ method: "GET", path: "/pins", timeout: WITHIN_MS })],
  ["an upload", (url) => new Http(url).send({ method: "POST", path: "/api/v0/dag/import", timeout: WITHIN_MS })],
  ["a question to the service", (url) => new ServiceClient({ baseUrl: url, timeout: WITHIN_MS }).status()],
  ["a request to the chain", (url) => ask(url, "eth_chainId")],
])
  test(what, () => dripping((url) => assert.rejects(sent(url), ({ message }) => /within|time/i.test(message))));

test("a closed client says so, however many gateways it has", async () => {
  const gateways = new Gateways(["https://a.example", "https://b.example"]);
  gateways.close();
  await assert.rejects(gateways.probe(), { name: "ClientStateError" });
});

test("the only host is named that sends wrong bytes", async () => {
  const gateways = new Gateways(["https://only"], async () => new Response("<html>"));
  for (const asked of [
    gateways.record(nameOf(new Uint8Array(32))),
    gateways.block("bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"),
  ])
    await assert.rejects(asked, { message: /^only: / });
});

/** Answers of a chain's endpoint that are none; vectors/service/json_rpc.json has the others. */
const ANSWERS = {
  "no connection": [
    () => Promise.reject(new TypeError("fetch failed")),
    "Network: the chain's JSON-RPC endpoint could not be reached",
  ],
  "no entry": [() => Response.json({}, { status: 401 }), "Network: eth_call failed (401)"],
  "without an end": [() => new Response(endless()), `Network: the response has more than ${8 << 20} bytes`],
};

/** A body that goes on for as long as it is read. */
function endless() {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 20).fill(0x20)) });
}

for (const [what, [answer, message]] of Object.entries(ANSWERS))
  test(`the chain's endpoint answers with ${what}`, async (context) => {
    context.mock.method(globalThis, "setTimeout", (work) => queueMicrotask(work)); // between the attempts
    context.mock.method(globalThis, "fetch", async () => answer());
    await assert.rejects(ask("http://127.0.0.1:1", "eth_call"), { name: "NetworkError", message });
  });

for (const found of [
  null,
  {},
  [null],
  [{ data: "0x", topics: null, transactionHash: "0x" }],
  [{ data: 1, topics: [], transactionHash: "0x" }],
])
  test(`a node that returns no events: ${JSON.stringify(found)}`, async (context) => {
    context.mock.method(globalThis, "fetch", async () => Response.json({ result: found ?? "0x" }));
    const account = { vault: {}, url: "http://127.0.0.1:1", address: "0x1" };
    await assert.rejects(logs(account, "0x1", [[]]), NetworkError);
  });
