/** A server that sends a byte now and then stops nothing: each request has a limit of time for its whole response. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import "./dom.js";
import { ask } from "../src/chain/rpc.js";
import { ServiceClient } from "../src/holdfast.js";
import { Http } from "../src/http/http.js";

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
