/** A change is uploaded after a while, or at once when the network or the person is back. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { until } from "./dom.js";
import "./scenarios/clients.js"; // keeps the vaults' stores in memory
import { NetworkError } from "../src/errors.ts";
import { SnapshotConflict } from "../src/snapshots/errors.ts";
import { VaultSnapshots } from "../src/snapshots/main.ts";
import { Publisher } from "../src/snapshots/publisher.ts";

/** Replaces the timers by ones with numbers, as browsers have; returns what lets time pass. */
function clock(context) {
  const waiting = new Map();
  let [now, last] = [0, 0];
  context.mock.method(globalThis, "setTimeout", (run, ms) => (waiting.set(++last, { run, at: now + ms }), last));
  context.mock.method(globalThis, "clearTimeout", (timer) => void waiting.delete(timer));
  return (ms) => {
    now += ms;
    for (const [timer, { run, at }] of [...waiting]) if (at <= now && waiting.delete(timer)) run();
  };
}

/** Snapshots of a vault that is locked, and how often an upload looked at the vault. */
function snapshots(context, options = {}) {
  const pass = clock(context);
  const status = context.mock.fn(async () => ({ locked: true }));
  const vault = Object.assign(new EventTarget(), { dbName: "automatic", status });
  const made = new VaultSnapshots({ vault, baseUrl: "https://service.example" }, { debounceMs: 2000, ...options });
  context.after(() => made.close());
  const count = () => status.mock.callCount();
  const looked = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return count();
  };
  return { vault, made, pass, count, looked };
}

for (const back of ["online", "nothing"])
  test(`a revision that was stored is uploaded: ${back} comes before its time`, async (context) => {
    const { vault, pass, count, looked } = snapshots(context);
    pass(5000); // of the look at what was stored before
    const before = await looked();
    vault.dispatchEvent(new CustomEvent("stored"));
    pass(1500);
    if (back === "online") dispatchEvent(new Event("online"));
    pass(0);
    if (back === "online") await until(() => count() > before);
    else assert.equal(await looked(), before);
    pass(500);
    await until(() => count() > before);
  });

for (const [when, options] of [
  ["after the end", {}],
  ["unless the application asks for it", { automatic: false }],
])
  test(`nothing is uploaded ${when}`, async (context) => {
    const { vault, made, pass, looked } = snapshots(context, options);
    if (options.automatic !== false) await made.close();
    const before = await looked();
    vault.dispatchEvent(new CustomEvent("stored"));
    dispatchEvent(new Event("online"));
    pass(60_000);
    assert.equal(await looked(), before);
  });

test("of two clients of one vault, as in a move, only one at a time changes the stored state", async (context) => {
  const { vault, made, looked } = snapshots(context);
  const other = new VaultSnapshots({ vault, baseUrl: "https://new.example" }, { automatic: false });
  context.after(() => other.close());
  const started = [];
  Object.assign(vault, {
    status: async () => ({ locked: false, did: "did:new:0x00" }),
    publishingKey: () => new Promise((_, reject) => started.push(reject)),
  });
  const flows = [made.continueFrom("00"), other.continueFrom("00")];
  for (const [nth, flow] of flows.entries()) {
    await looked();
    assert.equal(started.length, nth + 1);
    started[nth](new Error("ended"));
    await assert.rejects(flow, /ended/);
  }
});

test("the boot status says whether the last upload worked; a conflict is another matter", async (context) => {
  const { vault, made } = snapshots(context, { automatic: false });
  const told = [];
  vault.report = (...given) => told.push(given);
  for (const error of [new NetworkError("no answer"), new SnapshotConflict("root"), null]) {
    context.mock.method(Publisher.prototype, "publish", async () => (error ? Promise.reject(error) : {}));
    await made.publish().catch((it) => assert.equal(it, error));
  }
  assert.deepEqual(told, [
    ["helia", "Network: no answer"],
    ["helia", null],
  ]);
});
