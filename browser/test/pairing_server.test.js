/** The pairing server accepts each message once, in the right order, and for a single session. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { PluginCallError } from "../src/errors.ts";
import { PairingServer } from "../src/pairing/protocol.ts";

const HELLO = { step: "hello", session_id: "s", public_key: "02new" };
const REVEAL = { step: "reveal", session_id: "s", reveal: "r" };
const REFUSED = { error: "refused" };

/** A vault that responds as the enclave does, or as `refuses` says, and records what it was asked. */
const fakeVault = (asked, refuses) => ({
  async syncRespond(_session, { publicKey, code }) {
    assert(publicKey || code === "123456", code);
    asked.push(publicKey ? "respond" : "seal");
    if (refuses) return refuses();
    return publicKey
      ? { success: true, public_key: "03old" }
      : { success: true, encrypted_vault: "c2VhbGVk", sealed_vault: "c2VhbGVk" };
  },
  async syncCompare() {
    asked.push("compare");
    return { success: true, code: "123456" };
  },
});

/** @param {string} typed the digits that the person reads on the other device */
function server({ typed = "123456", refuses } = {}) {
  const [asked, shown] = [[], []];
  const ask = async (digits) => {
    shown.push(digits);
    return typed;
  };
  return { server: new PairingServer(fakeVault(asked, refuses), ask), asked, shown };
}

async function answered(messages, options) {
  const made = server(options);
  const answers = [];
  for (const message of messages) answers.push(await made.server.handle(message));
  const { finished, released } = made.server;
  return { ...made, answers, finished, released };
}

test("the vault is given after the digits", async () => {
  const { answers, asked, shown, finished, released } = await answered([HELLO, REVEAL]);
  assert.deepEqual([answers[0].public_key, answers[1].encrypted_vault], ["03old", "c2VhbGVk"]);
  assert.deepEqual([asked, shown], [["respond", "compare", "seal"], ["123456"]]);
  assert.deepEqual([finished, released], [true, true]);
});

test("digits may be typed with spaces around them", async () => {
  const { answers, released } = await answered([HELLO, REVEAL], { typed: " 123456\n" });
  assert.deepEqual([answers[1].encrypted_vault, released], ["c2VhbGVk", true]);
});

test("a person who refuses gives nothing", async () => {
  const { answers, asked, finished, released } = await answered([HELLO, REVEAL], { typed: "" });
  assert.deepEqual(answers[1], REFUSED);
  assert(!asked.includes("seal"));
  assert.deepEqual([finished, released], [true, false]);
});

for (const message of [
  REVEAL,
  { ...HELLO, public_key: 5 },
  { ...HELLO, session_id: "" },
  { session_id: "s" },
  { step: ["hello"], session_id: "s" },
])
  test(`a stranger's message does not end a pairing that has not begun: ${JSON.stringify(message)}`, async () => {
    const { answers, released } = await answered([message, HELLO, REVEAL]);
    assert.deepEqual([answers[0], answers[2].encrypted_vault, released], [REFUSED, "c2VhbGVk", true]);
  });

for (const messages of [
  [HELLO, HELLO],
  [HELLO, { ...REVEAL, session_id: "other" }],
  [HELLO, { ...REVEAL, reveal: "" }],
  [HELLO, { step: "release", session_id: "s" }],
])
  test(`a message out of turn ends the pairing: ${JSON.stringify(messages.at(-1))}`, async () => {
    const { answers, asked, finished, released } = await answered([...messages, HELLO, REVEAL]);
    assert.deepEqual(answers.slice(messages.length - 1), [REFUSED, REFUSED, REFUSED]);
    assert(!asked.includes("seal"));
    assert.deepEqual([finished, released], [true, false]);
  });

test("after the vault was given, nothing more is answered", async () => {
  const { answers, asked, released } = await answered([HELLO, REVEAL, REVEAL, HELLO]);
  assert.deepEqual(answers.slice(2), [REFUSED, REFUSED]);
  assert.equal(asked.filter((it) => it === "seal").length, 1);
  assert(released);
});

test("a message that comes while another one is answered is refused", async () => {
  const made = server();
  const [, second] = await Promise.all([made.server.handle(HELLO), made.server.handle(HELLO)]);
  assert.deepEqual([second, made.asked], [REFUSED, ["respond"]]);
  assert(!made.server.finished, "the first one goes on");
});

const expired = () => {
  throw new PluginCallError("sync_respond", "expired", "expired");
};
for (const refuses of [expired, () => ({ success: false, error: "digits_differ" })])
  test("what the enclave refuses is refused without a reason", async () => {
    const { answers, finished, released } = await answered([HELLO], { refuses });
    assert.deepEqual([answers, finished, released], [[REFUSED], false, false]);
  });
