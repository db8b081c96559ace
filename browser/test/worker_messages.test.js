/** The vault's worker answers every message, also hostile ones, and passes only listed ones to the enclave. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { until } from "./dom.js";
import { FUNCTIONS } from "../src/vault/protocol.ts";
import { WorkerSession } from "../src/vault/session.ts";
import { StorageError } from "../src/errors.ts";
import { VaultStore } from "../src/vault/store.ts";
import { CREDENTIAL } from "./host_tests.js";

const WASM = readFileSync(new URL("../../src/holdfast/enclave/enclave.wasm", import.meta.url));
const { fetch } = globalThis;
globalThis.fetch = async (asked, options) =>
  String(asked).endsWith(".wasm")
    ? new Response(WASM, { headers: { "content-type": "application/wasm" } })
    : fetch(asked, options);
// A worker ends with its page; in Node, its open channel would keep the process alive.
globalThis.BroadcastChannel = class extends BroadcastChannel {
  constructor(name) {
    super(name);
    this.unref();
  }
};

async function booted() {
  const session = new WorkerSession(() => {});
  const { reply } = await session.answer({ id: 1, fn: "boot", args: { wasmUrl: "http://localhost/enclave.wasm" } });
  assert.equal(reply.result.version.abi, 1, JSON.stringify(reply));
  return session;
}

const message = (fn, args, more = {}) => ({ id: 2, fn, args, ...more });
const REFUSED = [
  ...[null, 7, "text", [], {}],
  ...[0, -1, "1", 1.5].map((id) => ({ id, fn: "status", args: {} })),
  { id: 2, fn: "status" },
  ...["constructor", "__proto__", "wipe", ["status"]].map((fn) => message(fn, {})),
  message("status", []),
  message("status", { x: 1 }),
  message("status", {}, { more: 1 }),
  message("query", { did: 5 }),
  message("query", { did: "d".repeat(2000) }),
  message("query", { toString: "x" }),
  message("sign", { digest: Array(65).fill(1) }),
  message("sign", { digest: [256] }),
  message("unlock", { key: { kind: "prf", secret: Array(32).fill(0), more: 1 } }),
  message("unlock", { key: "secret" }),
  message("exec", { filter: "f".repeat(2000) }),
  message("exec", { filter: "resource:accounts action:list", args: { x: Array(400_000).fill("y") } }),
];

test("messages outside the table never reach the enclave", async () => {
  const session = await booted();
  for (const refused of REFUSED) {
    const { reply } = await session.answer(refused);
    assert.equal(reply.error?.code, "invalid_message", JSON.stringify(refused)?.slice(0, 80));
  }
});

test("a vault is forgotten only by its name, and the enclave is loaded only from an address", async () => {
  const session = await booted();
  for (const args of [{}, { did: null }, { did: "" }])
    assert.equal((await session.answer(message("forget", args))).reply.error?.code, "invalid_field");
  const { reply } = await session.answer(message("boot", {}));
  assert.equal(reply.error?.name, "WasmLoadError");
});

/** Numbers below `count`, the same for the same seed (mulberry32). */
function chosenBy(seed) {
  return (count) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  };
}

const many = (count, make) => Array.from({ length: count }, make);
const CHARACTERS = ["\0", '"', "\\", "A", "\u{1f600}", "\u202e", "0"];

function wordOf(below) {
  return many(below(12), () => CHARACTERS[below(CHARACTERS.length)]).join("");
}

function valueOf(below, depth) {
  const kinds = [
    () => wordOf(below),
    () => below(2 ** 32) * (below(2) ? 2 ** 21 : -1),
    () => below(1000) / 7,
    () => null,
    () => below(2) === 0,
    () => many(below(80), () => below(256)),
    () => `0x${"ab".repeat(below(40))}`,
    () => "resource:accounts action:list",
    () => ({ kind: "secret", secret: Array(32).fill(1) }),
    () => ({ kind: "password", password: "p".repeat(12) }),
    () => many(below(4), () => valueOf(below, depth - 1)),
    () => Object.fromEntries(many(below(4), () => [wordOf(below), valueOf(below, depth - 1)])),
  ];
  return kinds[below(depth ? kinds.length : kinds.length - 2)]();
}

const CALLABLE = Object.entries(FUNCTIONS).filter(([name]) => name !== "boot");

function messageOf(below, id) {
  const [fn, fields] = CALLABLE[below(CALLABLE.length)];
  const named = Object.keys(fields).filter(() => below(5) < 3);
  const args = Object.fromEntries(named.map((field) => [field, valueOf(below, 3)]));
  if (below(10) === 0) args[wordOf(below)] = 1;
  return { id, fn, args };
}

test("random messages crash nothing: each is answered, and the worker goes on", async () => {
  const session = await booted();
  const seed = Math.trunc(Math.random() * 2 ** 32);
  const below = chosenBy(seed);
  for (let id = 1; id < 360; id += 1) {
    const { reply } = await session.answer(messageOf(below, id));
    assert.equal(reply.id, id, `seed ${seed}`);
    assert.ok("result" in reply !== "error" in reply, `seed ${seed}`);
  }
  const { reply } = await session.answer({ id: 999, fn: "status", args: {} });
  assert.equal(reply.result.locked, true, `seed ${seed}: ${JSON.stringify(reply)}`);
});

test("a vault that a key does not open, or that is locked, is free for other tabs", async (context) => {
  let [stored, full] = [null, true];
  const store = {
    load: async () => stored,
    save: async (manifest, sealed, revision) => {
      if (full) throw new StorageError("this browser has no room left");
      stored = { did: manifest.did, revision, manifest, sealed };
    },
    own: async () => full && Promise.reject(new StorageError("full")),
  };
  for (const [name, method] of Object.entries(store)) context.mock.method(VaultStore.prototype, name, method);
  const session = await booted();
  const asked = async (fn, args) => (await session.answer(message(fn, args))).reply.result;
  const key = (digit) => ({ kind: "secret", id: "device", secret: Array(32).fill(digit) });
  assert.equal(await asked("generate", { credential: CREDENTIAL, key: key(7) }), undefined);
  full = false; // nothing of the vault that could not be stored is in the way
  const { did } = await asked("generate", { credential: CREDENTIAL, key: key(7) });
  const held = async () => (await navigator.locks.query()).held.filter(({ name }) => name.endsWith(`:${did}`)).length;
  assert.equal(await held(), 1);
  await asked("lock", {});
  await until(async () => (await held()) === 0);
  assert.equal((await asked("unlock", { key: key(8) })).error, "wrong_key");
  await until(async () => (await held()) === 0);
  full = true;
  assert.equal(await asked("unlock", { key: key(7) }), undefined, "it cannot be noted who has the vault open");
  await until(async () => (await held()) === 0);
  assert.equal((await asked("status", {})).locked, true);
  full = false;
  assert.equal((await asked("unlock", { key: key(7) })).success, true);
  await asked("lock", {});
});

test("a removed key opens no older revision, also if the first attempt to store its removal failed", async (context) => {
  let stored = null;
  const saved = [];
  const store = {
    load: async () => stored,
    save: async (manifest, sealed, revision, { forgetOlder }) => {
      saved.push(forgetOlder);
      if (saved.length === 3) throw new StorageError("this browser has no room left");
      stored = { did: manifest.did, revision, manifest, sealed };
    },
    own: async () => {},
  };
  for (const [name, method] of Object.entries(store)) context.mock.method(VaultStore.prototype, name, method);
  const session = await booted();
  const asked = async (fn, args) => (await session.answer(message(fn, args))).reply;
  const key = (id) => ({ kind: "secret", id, secret: Array(32).fill(7) });
  await asked("generate", { credential: CREDENTIAL, key: key("device") });
  await asked("add_wrap", { key: key("lost") });
  assert.equal((await asked("remove_wrap", { kind: "secret", id: "lost" })).error.name, "StorageError");
  const row = (id) => ({ filter: "resource:tokens action:create", args: { id, kind: "b", value: "c" } });
  for (const id of ["a", "b"]) assert.equal((await asked("exec", row(id))).result.success, true);
  await asked("lock", {});
  assert.deepEqual(saved.slice(0, 5), [false, false, true, true, false]);
});

/** As much of IndexedDB as a vault is stored with. */
function database() {
  const [owners, rows] = [new Map(), []];
  const asked = (result) => {
    const request = { result };
    queueMicrotask(() => request.onsuccess());
    return request;
  };
  const stores = {
    owners: { get: (did) => asked(owners.get(did)), put: (owner, did) => owners.set(did, owner) },
    vaults: { openCursor: () => asked(rows.length ? { value: rows.at(-1) } : null), put: (row) => rows.push(row) },
    notes: { get: () => asked(undefined), count: () => asked(0), delete() {} },
  };
  stores.vaults.delete = () => {};
  stores.owners.delete = (did) => owners.delete(did);
  const transaction = () => {
    const made = { objectStore: (name) => stores[name], abort() {} };
    setImmediate(() => made.oncomplete());
    return made;
  };
  return { rows, open: () => asked({ transaction }), clear: () => (owners.clear(), rows.splice(0)) };
}

test("an open vault is stored again after the site's data were deleted, unless another tab has it", async (context) => {
  const { rows, open, clear } = database();
  const before = [globalThis.indexedDB, globalThis.IDBKeyRange];
  Object.assign(globalThis, { indexedDB: { open }, IDBKeyRange: { bound() {} } });
  context.after(() => ([globalThis.indexedDB, globalThis.IDBKeyRange] = before));
  const [store, did] = [new VaultStore({ dbName: "cleared" }), "did:new:0x1"];
  const save = (revision) => store.save({ did }, new Uint8Array(), revision, { owner: "this" });
  await store.own(did, "this");
  await save(1);
  clear();
  await save(2);
  assert.deepEqual(
    rows.map((it) => it.revision),
    [2],
  );
  await store.own(did, "other");
  await assert.rejects(save(3), { message: /opened elsewhere/ });
  await store.own(did, "this");
  await store.delete(did);
  await assert.rejects(save(3), { message: /opened elsewhere/ }, "another tab deleted it");
});
