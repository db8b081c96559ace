/** What is forgotten when a person chooses the other device's version in a conflict. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { VaultSnapshots } from "../src/snapshots/keeping.ts";
import { writeCar } from "../src/snapshots/cars.ts";
import { snapshotOf } from "../src/snapshots/roots.ts";
import { firstState, otherNote, writeState } from "../src/snapshots/state.ts";
import { removalOf } from "../src/vault/removals.ts";
import { VaultStore } from "../src/vault/store.ts";
import { MemoryStore } from "./scenarios/memory_store.js";

const DID = `did:new:0x${"11".repeat(32)}`;
const KEY = { kind: "password", password: "correct horse battery" };
const lost = { kind: "prf", id: "lost" };
const kept = { kind: "password", id: "password" };
const closed = (error) => ({ unlock: async () => ({ success: false, error }) });
globalThis.indexedDB ??= { deleteDatabase: () => {} };

/** An open vault with these keys, from which others were removed. */
function vaultOf(keys, removed, more = {}) {
  return Object.assign(new EventTarget(), {
    dbName: "chosen",
    status: async () => ({ locked: false, did: DID }),
    keys: async () => ({ wraps: keys }),
    exec: async () => ({ success: true, result: removed.map(({ kind, id }) => removalOf(kind, id)) }),
    boot: async () => {},
    unlock: async () => ({ success: true }),
    lock: async () => {},
    removeKey: async () => {},
    save: async () => ({ database: [1], revision: 9 }),
    close: () => {},
    ...more,
  });
}

for (const [name, here, there, forgetOlder, refused] of [
  ["neither removed a key", [[lost, kept], []], [[lost, kept], []], false],
  ["the other device removed a key of this one", [[lost, kept], []], [[kept], [lost]], true],
  ["the other version still has a key that was removed here", [[kept], [lost]], [[lost, kept], []], true],
  [
    "the other version is a later release's and may have removed a key",
    [[lost], []],
    [[], [], closed("unsupported_version")],
    null,
    /unsupp/,
  ],
  [
    "the other version is damaged, so this one is uploaded",
    [[lost], []],
    [[], [], closed("invalid_database")],
    null,
    /changed/,
  ],
])
  test(`older snapshots: ${name}`, async (context) => {
    const store = new MemoryStore();
    for (const method of ["note", "setNote", "load", "close"])
      context.mock.method(VaultStore.prototype, method, (...given) => store[method](...given));
    const manifest = { rootCid: null, did: DID, updatedAt: 1, wasmVersion: "1", schemaVersion: 1 };
    const { rootCid, blocks } = await snapshotOf(manifest, new Uint8Array(60));
    await writeState(store, { ...firstState(DID), status: "conflict", otherRoot: rootCid });
    await store.setNote(otherNote(DID), writeCar(rootCid, blocks));
    const saved = context.mock.fn(async () => ({}));
    const vault = vaultOf(...here, { save: saved, another: () => vaultOf(...there) });
    const client = { vault, baseUrl: "https://service.example" };
    const snapshots = new VaultSnapshots(client, { automatic: false }, async () => Response.error());
    await assert.rejects(snapshots.choose(refused ? "here" : "there", KEY), refused ?? Error);
    assert.deepEqual(saved.mock.calls[0]?.arguments, forgetOlder === null ? undefined : [{ forgetOlder }]);
  });
