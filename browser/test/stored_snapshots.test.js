/** What a device stores of a snapshot that another service, or another device, has. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { continueHere } from "../src/snapshots/moving.ts";
import { continued, readState } from "../src/snapshots/state.ts";
import { MemoryStore } from "./scenarios/memory_store.js";
import { vectors } from "./vector_files.js";

test("a host that is killed before the manifest names the new service's snapshot knows that snapshot as its own", async () => {
  const store = new MemoryStore();
  store.updateManifest = () => Promise.reject(new Error("killed"));
  const snapshot = { rootCid: "there", manifest: { did: "did:new:0x01" } };
  const stored = { revision: 3, manifest: snapshot.manifest, sealed: new Uint8Array() };
  await assert.rejects(continueHere(store, { snapshot, record: new Uint8Array(), sequence: 7, stored }), /killed/);
  assert.equal((await readState(store, "did:new:0x01")).acknowledgedRoot, "there");
});

test("a store that fails during a pairing is not taken for a record of another vault", async () => {
  const [{ ipns_name: name, record }] = vectors("ipns/records.json").records;
  const vault = { status: async () => ({ did: "did:new:0x01" }), publishingKey: async () => ({ name }) };
  const store = new MemoryStore();
  await continued(vault, store, `${record}00`);
  assert.equal((await readState(store, "did:new:0x01")).acknowledgedRoot, null);
  await continued(vault, store, record);
  assert.notEqual((await readState(store, "did:new:0x01")).acknowledgedRoot, null);
  store.setNote = () => Promise.reject(new Error("full"));
  await assert.rejects(continued(vault, store, record), /full/);
});
