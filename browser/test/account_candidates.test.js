/** Of several changes that claim the same place of an account, the chain says which is valid; and what it says of recoveries. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { accepted } from "../src/account/candidates.ts";
import { supportersOf } from "../src/account/reads.ts";

const change = (sequence, signature) => ({ account: "0x1", sequence, changes: [], signature });
const together = (changes) => ({ to: "0x1", data: changes.map(({ signature }) => signature).join(" ") });
const [FORGED, FIRST, LIE, SECOND] = [change(0, "forged"), change(0, "first"), change(1, "lie"), change(1, "second")];

/** A chain that accepts these calls alone; returns what it was asked. */
function chain(context, ...valid) {
  const asked = [];
  context.mock.method(globalThis, "fetch", async (_, { body }) => {
    const { id, params } = JSON.parse(body);
    const [{ from, to, data }] = params;
    assert.equal(from, to, "the account obeys itself");
    asked.push(data);
    const answer = valid.includes(data) ? { result: "0x" } : { error: { code: 3, message: "execution reverted" } };
    return Response.json({ jsonrpc: "2.0", id, ...answer });
  });
  return asked;
}

test("forged changes in front hide no valid one, also after it", async (context) => {
  const asked = chain(context, "first", "first second");
  const chosen = await accepted("http://127.0.0.1:1", [FORGED, FIRST, LIE, SECOND], together);
  assert.deepEqual(chosen, [FIRST, SECOND]);
  assert.deepEqual(asked, ["forged", "first", "first lie", "first second"]);
});

test("what has no rival is not tried, and if the chain accepts none, the first is brought", async (context) => {
  const asked = chain(context);
  assert.deepEqual(await accepted("http://127.0.0.1:1", [FIRST, LIE, SECOND], together), [FIRST, LIE]);
  assert.deepEqual(asked, ["first lie", "first second"]);
});

test("a chain that does not answer has not refused", async (context) => {
  context.mock.method(globalThis, "setTimeout", (work) => queueMicrotask(work)); // between the attempts
  context.mock.method(globalThis, "fetch", async () => Promise.reject(new TypeError("fetch failed")));
  await assert.rejects(accepted("http://127.0.0.1:1", [FORGED, FIRST], together), { name: "NetworkError" });
});

test("how many guardians signed a recovery is read without a search of the chain's history", async (context) => {
  context.mock.method(globalThis, "fetch", async (_, { body }) => {
    const { id, method } = JSON.parse(body);
    assert.equal(method, "eth_call");
    const result = `0x${[1_800_000_000, 2, 3].map((it) => it.toString(16).padStart(64, "0")).join("")}`;
    return Response.json({ jsonrpc: "2.0", id, result });
  });
  assert.equal(await supportersOf({ url: "http://127.0.0.1:1", address: `0x${"11".repeat(20)}` }), 2);
});
