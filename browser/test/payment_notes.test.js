/** Notes about payments: sealed, opened and merged as the Python client does it. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { exchanged } from "../src/snapshots/shared_notes.ts";
import { DIGEST, merged, notesKey, readNotes, sealed, unsealed } from "../src/snapshots/payment_notes.ts";

const VECTOR = JSON.parse(readFileSync(new URL("../../vectors/payments/notes.json", import.meta.url), "utf8"));
const octets = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const hex = (data) => Buffer.from(data).toString("hex");
const KEY = await notesKey(octets(VECTOR.signature));
const DATA = octets(VECTOR.sealed);

function note({ number, ...more }) {
  const time = `2026-01-02T03:04:${String(number).padStart(2, "0")}.000Z`;
  const hash = `0x${number.toString(16).padStart(64, "0")}`;
  return { hash, to: `person-${number}`, amount: "5", symbol: "USDC", time, state: "confirmed", ...more };
}

test("the vault's key signs the same bytes", () => assert.equal(hex(DIGEST), VECTOR.digest));

test("what Python sealed is opened, and sealed to what is opened again", async () => {
  assert.deepEqual(await unsealed(KEY, VECTOR.did, DATA), VECTOR.payments);
  const again = await sealed(KEY, VECTOR.did, VECTOR.payments);
  assert.equal(hex(again), hex(await sealed(KEY, VECTOR.did, VECTOR.payments)));
  assert.deepEqual(await unsealed(KEY, VECTOR.did, again), VECTOR.payments);
});

for (const at of [0, 1, 12, 13, 40, DATA.length - 1])
  test(`bytes that were changed at ${at} are not notes`, async () => {
    const data = DATA.slice();
    data[at] ^= 1;
    assert.equal(await unsealed(KEY, VECTOR.did, data), null);
  });

test("notes of another vault and other bytes are not notes", async () => {
  assert.equal(await unsealed(KEY, `${VECTOR.did}0`, DATA), null);
  assert.equal(await unsealed(await notesKey(new Uint8Array(64).fill(1)), VECTOR.did, DATA), null);
  for (const length of [0, 1, 13, 28]) assert.equal(await unsealed(KEY, VECTOR.did, DATA.slice(0, length)), null);
});

for (const { what, ours, theirs, merged: expected } of VECTOR.merges)
  test(`merged: ${what}`, () => {
    assert.deepEqual(merged(ours.map(note), theirs.map(note)), expected.map(note));
  });

for (const { what, change, row = { ...VECTOR.payments[0], ...change } } of VECTOR.left_out)
  test(`a row that is not a note: ${what}`, () => assert.deepEqual(readNotes([row]), []));

test("unknown fields of notes are left out", async () => {
  const good = note({ number: 1 });
  const data = await sealed(KEY, VECTOR.did, [{ ...good, later: 1, label: null }, null]);
  assert.deepEqual(await unsealed(KEY, VECTOR.did, data), [good]);
});

test("half a character is replaced, because no JSON of the Python client has it", () => {
  const [found] = readNotes([note({ number: 1, label: "\ud83dx" })]);
  assert.equal(found.label, "\ufffdx");
});

test("pins that a service lists in spite of the filter are not read", async () => {
  const pins = [{ payments: "did:b" }, { vault: VECTOR.did }, null].map((meta) => ({ pin: { cid: "x", meta } }));
  const vault = { status: async () => VECTOR, sign: async () => ({ signature: VECTOR.signature }) };
  const store = { changeNote: async (_name, change) => change(null) };
  const hosts = { pinning: { list: async () => pins }, gateways: { snapshot: assert.fail } };
  assert.deepEqual(await exchanged(vault, store, hosts), []);
});
