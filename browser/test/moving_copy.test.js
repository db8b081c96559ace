import assert from "node:assert/strict";
import { test } from "node:test";
import { continueHere } from "../src/snapshots/moving.js";
import { readState } from "../src/snapshots/state.js";
import { MemoryStore } from "./scenarios/memory_store.js";

test("a host that is killed before the manifest names the new service's snapshot knows that snapshot as its own", async () => {
  const store = new MemoryStore();
  store.updateManifest = () => Promise.reject(new Error("killed"));
  const snapshot = { rootCid: "there", manifest: { did: "did:new:0x01" } };
  const stored = { revision: 3, manifest: snapshot.manifest, sealed: new Uint8Array() };
  await assert.rejects(continueHere(store, { snapshot, record: new Uint8Array(), sequence: 7, stored }), /killed/);
  assert.equal((await readState(store, "did:new:0x01")).acknowledgedRoot, "there");
});
