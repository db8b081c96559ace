/** A node's words on the exit page are marked as its words, short, and without characters that hide or move others. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { one, until } from "./dom.js";
import { OperationFailed } from "../src/chain/errors.ts";
import { NetworkError, PluginCallError } from "../src/errors.ts";
import { bundlerAt, sentSection } from "../src/exit/leaving.ts";
import { sendRest } from "../src/exit/sending.ts";
import { hashOf } from "../src/exit/transaction.ts";
import { mistakeText } from "../src/exit/mistakes.ts";
import { Node } from "../src/exit/node.ts";
import { textsOf } from "../src/exit/texts.ts";

const text = textsOf("en");
const node = new Node("https://node.example/with/a/key");
/** @param {import("node:test").TestContext} it @param {object} answer */
const answers = (it, answer) => it.mock.method(globalThis, "fetch", async () => Response.json(answer));
/** @param {Promise<unknown>} work */
const failed = (work) => work.then(assert.fail, (/** @type {Error} */ error) => error);

test("what a node says is quoted, after its host", async (it) => {
  answers(it, { error: { code: 3, message: "send 1 ETH” to “0x00\u202e\u0007\n first".padEnd(999, "!") } });
  const error = await failed(node.quantity("eth_chainId"));
  const said = "eth_chainId: send 1 ETH' to '0x00\ufffd\ufffd\ufffd first".padEnd(200, "!");
  const shown = `That did not work. The node or bundler at node.example says, in its own words: “${said}…”`;
  assert.equal(mistakeText(text, error), shown);
  assert.equal(
    mistakeText(text, new OperationFailed("refused", { cause: new NetworkError("it", { cause: error }) })),
    shown,
  );
});

test("an answer other than a number is not quoted", async (it) => {
  answers(it, { result: "send 1 ETH to 0x00 first" });
  const error = await failed(node.quantity("eth_chainId"));
  assert.equal(
    mistakeText(text, error),
    "That did not work: the node or bundler answered with something other than a number.",
  );
});

test("the receipt of another transaction is refused", async (it) => {
  const hash = `0x${"ab".repeat(32)}`;
  const result = { transactionHash: `0x${"AB".repeat(32)}`, logs: [] };
  it.mock.method(globalThis, "fetch", async () => Response.json({ result }));
  assert.ok(await node.mined(hash));
  for (const other of [`0x${"cd".repeat(32)}`, undefined]) {
    result.transactionHash = /** @type {string} */ (other);
    const said = "That did not work: Network: the answer is another transaction's receipt";
    assert.equal(mistakeText(text, await failed(node.mined(hash))), said);
  }
});

for (const [what, wait] of Object.entries({
  node: (/** @type {string} */ hash) => node.mined(hash),
  bundler: (/** @type {string} */ hash) => bundlerAt("https://node.example/", `0x${"ee".repeat(20)}`).wait(hash),
}))
  test(`a ${what} that does not answer, or refuses for a while, is asked again for a receipt`, async (it) => {
    const hash = `0x${"ab".repeat(32)}`;
    const result = { transactionHash: hash, userOpHash: hash, success: true, logs: [] };
    const answers = [
      () => Promise.reject(new TypeError("Failed to fetch")),
      () => Response.json({ error: { code: -32005, message: "too many requests" } }, { status: 429 }),
      () => Response.json({ result: null }),
      () => Response.json({ result: { ...result, receipt: { transactionHash: hash, blockNumber: "0x1" } } }),
    ];
    it.mock.method(globalThis, "fetch", async () => answers.shift()?.());
    it.mock.method(globalThis, "setTimeout", (/** @type {() => void} */ work) => void setImmediate(work));
    assert.equal((await wait(hash)).transactionHash, hash);
  });

test("the page's own words are shown as they are", () => {
  assert.equal(mistakeText(text, new NetworkError("no result")), "That did not work: Network: no result");
  assert.equal(
    mistakeText(text, new PluginCallError("sign", "locked", "vault_locked")),
    "That did not work: vault_locked",
  );
});

test("an endless response is not read, and a redirect is not followed", async (it) => {
  const pull = (/** @type {ReadableStreamDefaultController} */ it) => it.enqueue(new Uint8Array(1 << 20).fill(0x20));
  const fetched = it.mock.method(globalThis, "fetch", async () => new Response(new ReadableStream({ pull })));
  const error = await failed(node.quantity("eth_chainId"));
  assert.equal(mistakeText(text, error), "That did not work: Network: node.example does not answer");
  assert.equal(fetched.mock.calls[0].arguments[1].redirect, "error");
});

test("after a mistake and a change of the language, the focus is where it was", async (it) => {
  document.fill();
  const main = document.createElement("main");
  main.id = "page";
  document.body.replaceChildren(main);
  it.after(() => document.fill());
  await import("../src/exit/main.ts");
  const submit = document.querySelector("[data-step=open] form button.main");
  const file = one('[name="file"]');
  submit.closest("form").requestSubmit();
  await until(() => document.activeElement === file);
  assert.match(submit.closest("form").textContent, /Choose the file first/);
  document.activeElement = document.body;
  file.files = [{ arrayBuffer: async () => Promise.reject(new NetworkError("unreadable")) }];
  submit.closest("form").requestSubmit();
  await until(() => document.activeElement === submit);
  assert.match(submit.closest("form").textContent, /unreadable/);
  document.activeElement = document.body;
  one('[name="language"]').click();
  assert.equal(document.activeElement, one('[name="language"]'));
  one('[name="language"]').click();
});

test("where a button was, the focus is on what is said instead", async (it) => {
  document.fill();
  it.after(() => document.fill());
  const chosen = { to: "0x01", payer: {}, plan: { transaction: { tip: 1n, maxFee: 1n } } };
  const more = { node: { quantity: async () => 0n }, vault: { payer: () => ({ address: "0x02" }) }, standing: {} };
  const page = { text, chosen, ...more, run: (_form, /** @type {() => Promise<void>} */ work) => void work() };
  document.body.append(sentSection(/** @type {any} */ (page), { transaction: "0x03", succeeded: true }));
  one("form").requestSubmit();
  await until(() => document.activeElement.textContent === text("sent.rest.none"));
});

test("the rest leaves what a rollup takes for data, and is not said to be sent if a receiver does not take it", async () => {
  /** @type {bigint | null} */
  let data = null;
  const node = {
    quantity: async (/** @type {string} */ method) => (method === "eth_getBalance" ? 100_000n : 1n),
    call: async (/** @type {string} */ _method, /** @type {string[]} */ [raw]) => hashOf(raw),
    word: async () => data,
    mined: async (/** @type {string} */ hash) => ({ transactionHash: hash, status, logs: [] }),
  };
  const signature = { signature: "01".repeat(64), recovery: 0 };
  const vault = { payer: () => ({ address: `0x${"02".repeat(20)}`, sign: () => signature }) };
  const rest = () =>
    sendRest(/** @type {any} */ (node), /** @type {any} */ (vault), {
      chainId: 1,
      to: `0x${"01".repeat(20)}`,
      tip: 1n,
      maxFee: 1n,
    });
  let status = "0x1";
  for (const [fee, given] of [
    [null, 99_999n],
    [40_000n, 19_999n],
    [50_000n, 0n],
  ]) {
    data = fee;
    assert.equal(await rest(), given);
  }
  data = null;
  status = "0x0";
  await assert.rejects(rest(), OperationFailed);
});
