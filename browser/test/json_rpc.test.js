/** What answers to JSON-RPC requests mean (vectors/service/json_rpc.json), from a bundler and from a chain's endpoint. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { ask } from "../src/chain/rpc.ts";
import { NetworkError } from "../src/errors.ts";
import { RpcError, ServiceClient } from "../src/holdfast.ts";
import { vectors } from "./vector_files.js";

/** The bytes of a case's answer to the request of this number. */
function content({ hex, depth, text, body }, id) {
  if (hex) return Buffer.from(hex, "hex");
  if (depth) return "[".repeat(depth) + "]".repeat(depth);
  if (text !== undefined) return text;
  const said = JSON.stringify(body).replace('"$id"', id).replace("$text", id);
  return said.replace("$long", "no".repeat(999));
}

/** Answers as a browser does, which follows no redirect if the request says so. */
const fetchOf = (case_) => async (_url, init) => {
  const { status = 200 } = case_;
  if (status === 307 && init.redirect === "error") throw new TypeError("redirected");
  return new Response(content(case_, JSON.parse(init.body).id), { status: status === 307 ? 200 : status });
};

const SOURCES = {
  bundler: (case_) =>
    new ServiceClient({ baseUrl: "https://service.example", fetch: fetchOf(case_) }).bundler("eth_chainId"),
  chain: () => ask("https://chain.example", "eth_chainId"),
};

for (const case_ of vectors("service/json_rpc.json").cases)
  for (const [source, asked] of Object.entries(SOURCES))
    test(`${source}: ${case_.name}`, async (context) => {
      context.mock.method(globalThis, "setTimeout", (work) => queueMicrotask(work)); // between the attempts
      context.mock.method(globalThis, "fetch", fetchOf(case_));
      if ("result" in case_) return assert.deepEqual(await asked(case_), case_.result);
      await assert.rejects(asked(case_), (error) => {
        assert(error instanceof NetworkError && error instanceof RpcError === "refused" in case_, String(error));
        if (!case_.refused) return true;
        const [code, message, data] = case_.refused;
        const said = source === "chain" ? `eth_chainId failed (${code})` : message.replace("$cut", "no".repeat(250));
        assert.deepEqual([error.code, error.message, error.data], [code, `Network: ${said}`, data]);
        return true;
      });
    });
