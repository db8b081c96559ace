/** Whatever goes wrong on the way to the other device, an application gets the documented errors. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

import "./dom.js";
import { NetworkError, StorageError } from "../src/holdfast.ts";
import { readable } from "../src/pages/pair/give.ts";
import { PairingServer, SyncRefused, asker, giveAt, linkTo, receive } from "../src/pairing/pairing.ts";

const NOWHERE = "/ip4/127.0.0.1/tcp/9/ws/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";
const SILENT = "Network: the other device does not answer";
const KEY = { kind: "password", password: "p" };
/** A vault that begins a pairing. */
const vault = {
  start: (_subsystem, work) => work(),
  syncInit: async () => ({ success: true, session_id: "s", public_key: "02new" }),
};

/** Next to its source, because its build is not. */
const LIBP2P = new URL("../src/pairing/libp2p.ts", import.meta.url).href;
/** The address of a module that takes libp2p's place, in which `connect` does this. */
const instead = (body) => `data:text/javascript,export const connect = async () => { ${encodeURIComponent(body)} }`;
const isSilence = (error) => error instanceof NetworkError && error.name === "NetworkError" && error.message === SILENT;

for (const address of [NOWHERE, "nonsense", "", "/ip4/127.0.0.1/tcp/9/ws"])
  test(`no device is reached at "${address}"`, async () => {
    await assert.rejects(linkTo(vault, address, LIBP2P), isSilence);
  });

test("after a failed attempt nothing of libp2p goes on, so a program can end", async () => {
  const program = `
    import ${JSON.stringify(new URL("dom.js", import.meta.url))};
    const { linkTo } = await import(${JSON.stringify(new URL("../src/pairing/pairing.ts", import.meta.url))});
    await linkTo({ start: (_, work) => work() }, "${NOWHERE}", "${LIBP2P}").catch(({ name }) => console.log(name));
  `;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { timeout: 60_000 });
  assert.equal((await run).stdout, "NetworkError\n");
});

test("what is thrown is not an error, as a browser's event of a closed socket", async () => {
  const refused = await linkTo(vault, NOWHERE, instead(`throw {type: "error"};`)).catch((error) => error);
  assert.ok(isSilence(refused));
  assert.deepEqual(refused.cause, { type: "error" });
});

test("libp2p cannot be loaded", async () => {
  const refused = await linkTo(vault, NOWHERE, "data:text/javascript,no module").catch((error) => error);
  assert.deepEqual([refused.name, refused.message], ["NetworkError", "Network: libp2p could not be loaded"]);
});

test("the connection breaks while the vault is received", async () => {
  const link = await linkTo(vault, NOWHERE, instead(`return {ask: async () => { throw {type: "close"}; }};`));
  await assert.rejects(
    receive(vault, asker(link), KEY, async () => true),
    isSilence,
  );
});

test("what is received replaces a stored vault if the caller says so", async () => {
  const done = async () => ({ success: true, session_id: "s", public_key: "02", code: "1", reveal: "r" });
  const stored = [];
  const whole = {
    ...vault,
    syncInit: done,
    syncCompare: done,
    syncComplete: async (...it) => (stored.push(it[2]), done()),
  };
  const ask = async () => ({ public_key: "02", encrypted_vault: "AA" });
  await receive(
    whole,
    ask,
    KEY,
    async () => true,
    async () => {},
    { replace: true },
  );
  assert.deepEqual(stored, [{ replace: true }]);
});

test("a device that never answers is not waited for longer than a pairing lasts", async (context) => {
  const link = await linkTo(vault, NOWHERE, instead(`return {ask: () => new Promise(() => {})};`));
  const waited = [];
  context.mock.method(globalThis, "setTimeout", (work, ms) => (waited.push(ms), queueMicrotask(work)));
  await assert.rejects(asker(link)({}), isSilence);
  assert.deepEqual(waited, [300_000]);
});

test("the connection breaks while the vault is given, and the own errors stay what they are", async () => {
  const breaks = await linkTo(vault, NOWHERE, instead(`return {answer: async () => { throw {type: "close"}; }};`));
  const server = new PairingServer(vault, async () => "");
  await assert.rejects(giveAt(breaks, "meeting", server), isSilence);
  const body = `return {answer: async (protocol, first, handle) => { await handle({step: "hello", session_id: "s", public_key: "02"}); }};`;
  const open = await linkTo(vault, NOWHERE, instead(body));
  const full = new StorageError("the disk is full");
  const failing = new PairingServer({ ...vault, syncRespond: () => Promise.reject(full) }, async () => "");
  await assert.rejects(giveAt(open, "meeting", failing), full);
  const refusing = new PairingServer({ ...vault, syncRespond: async () => ({ success: false }) }, async () => "");
  await assert.rejects(giveAt(open, "meeting", refusing), SyncRefused);
});

test("the page says whether the module is missing, the other device is silent, or what else went wrong", () => {
  const notLoaded = new NetworkError("libp2p could not be loaded", { cause: new TypeError("import") });
  for (const [error, key] of [
    [notLoaded, "pair.notloaded"],
    [new NetworkError("silent", { cause: { type: "error" } }), "pair.lost"],
    [new SyncRefused("no"), "pair.refused"],
    [new TypeError("x"), "pair.lost"],
  ])
    assert.equal(readable(error).key, key);
  const full = new StorageError("full");
  assert.equal(readable(full), full);
});
