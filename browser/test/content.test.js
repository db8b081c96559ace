/** The JavaScript client reads and writes CIDs, CAR files, snapshot roots, IPNS names and records as Python does. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { readCar, writeCar } from "../src/snapshots/cars.ts";
import { blockOf, cidBytes, codecOf, textOf } from "../src/snapshots/cids.ts";
import { ContentError } from "../src/snapshots/content_error.ts";
import { Link, decode, encode } from "../src/snapshots/dag_cbor.ts";
import { nameOf, publicKeyOf } from "../src/snapshots/names.ts";
import { changeOf, isExpired, readRecord } from "../src/snapshots/records.ts";
import { readRoot, sealedOf, snapshotOf, snapshotOfCar } from "../src/snapshots/roots.ts";
import { vectors } from "./vector_files.js";

/** @type {Record<string, (vector: any) => Promise<unknown>>} by the file's path within vectors/ */
const RUNS = {
  "car/valid": async ({ car, root, blocks }) => {
    const read = await readCar(octets(car));
    assert.equal(read.root, root);
    assert.deepEqual(
      [...read.blocks].map(([cid, data]) => ({ cid, data: hex(data) })),
      blocks,
    );
  },
  "car/invalid": async ({ car, code }) => {
    if (code === "other_roots") assert.equal((await readCar(octets(car))).root, null);
    else await refused(code, () => readCar(octets(car)));
  },
  "snapshots/valid": async ({ manifest, sealed: spelled, ...expected }) => {
    const sealed = octets(spelled);
    const made = await snapshotOf(manifestOf(manifest), sealed);
    const [root, ...parts] = made.blocks;
    assert.deepEqual([root.cid, hex(root.data)], [expected.root, expected.root_block]);
    assert.deepEqual(
      parts.map(({ cid }) => cid),
      expected.blocks,
    );
    const car = writeCar(root.cid, made.blocks);
    assert.equal(hex(await digest(car)), expected.car_sha256);
    const read = await snapshotOfCar(car);
    assert.deepEqual(read.sealed, sealed);
    assert.deepEqual(read.manifest, manifestOf(manifest));
  },
  "snapshots/files": async ({ car, root }) => {
    const read = snapshotOfCar(octets(car));
    if (root === null) await assert.rejects(read, ContentError);
    else assert.equal((await read).rootCid, root);
  },
  "snapshots/older": async ({ root, root_block: block, sealed }) => {
    const read = await readRoot({ cid: root, data: octets(block) });
    const part = await blockOf("raw", octets(sealed));
    assert.deepEqual([read.size, read.blocks], [null, [part.cid]]);
    assert.deepEqual(await sealedOf(read, new Map([[part.cid, part.data]])), octets(sealed));
  },
  "snapshots/invalid": async ({ root_block: spelled, code }) => {
    const data = octets(spelled);
    const { cid } = await blockOf("dag-cbor", data);
    await refused(code, () => readRoot({ cid, data }));
  },
  "ipns/invalid": ({ under, record, code }) => refused(code, () => readRecord(under, octets(record))),
  "ipns/tolerated": async ({ under, record, root, sequence, validity_ns: validityNs }) => {
    const read = await readRecord(under, octets(record));
    assert.deepEqual([read.rootCid, read.sequence, String(read.validityNs)], [root, sequence, validityNs]);
  },
  "ipns/names": async ({ public_key: key, texts }) => {
    assert.equal(nameOf(octets(key)), texts[0]);
    for (const text of texts) assert.equal(hex(publicKeyOf(text)), key);
  },
  "ipns/names_invalid": ({ text, code }) => refused(code, async () => publicKeyOf(text)),
  "ipns/records": async (vector) => {
    const record = await readRecord(vector.ipns_name, octets(vector.record));
    assert.deepEqual([record.rootCid, record.sequence], [vector.root_cid, vector.sequence]);
    const [seconds, nanoseconds] = vector.validity.slice(0, -1).split(".");
    const end = Date.parse(`${seconds}Z`);
    assert.equal(record.validityNs, BigInt(end) * 1_000_000n + BigInt(nanoseconds));
    assert.deepEqual([isExpired(record, end - 1), isExpired(record, end + 1000)], [false, true]);
  },
  "dag_cbor/decode_valid_py_dag_cbor": async ({ input, output }) => {
    const data = octets(input.data);
    decode(data);
    assert.equal((await blockOf("dag-cbor", data)).cid, output.cid);
  },
  "dag_cbor/decode_invalid": async ({ input, error }) => {
    if (error === undefined) decode(octets(input.data));
    else await refused("invalid_dag_cbor", async () => decode(octets(input.data)));
  },
};

/** Tests of cases that the vectors do not cover. @type {Record<string, () => Promise<unknown>>} */
const TESTS = {
  "which record is newer": async () => {
    const known = { sequence: 7, rootCid: "a", validityNs: 5n };
    const changes = [{ sequence: 8 }, { validityNs: 6n }, { validityNs: 4n }, { sequence: 6 }, { rootCid: "b" }];
    assert.deepEqual(
      changes.map((it) => changeOf(known, { ...known, ...it })),
      ["newer", "renewed", "same", "older", "conflict"],
    );
    assert.equal(changeOf(null, known), "newer");
  },
  "no byte of a CAR file can be changed or removed": async () => {
    const { rootCid, blocks } = await snapshotOf(
      manifestOf({ rootCid: null, did: "did:new:0x01", updatedAt: 1, wasmVersion: "ab" }),
      octets("00ff00"),
    );
    const whole = writeCar(rootCid, blocks);
    for (let at = 0; at < whole.length; at += 1) {
      await assert.rejects(() => snapshotOfCar(whole.with(at, whole[at] ^ 1)), ContentError);
      await assert.rejects(() => snapshotOfCar(whole.slice(0, at)), ContentError);
    }
  },
  "a link is one item": async () => {
    const { cid } = await blockOf("raw", octets("61"));
    const links = Array.from({ length: 255 }, () => new Link(cidBytes(cid)));
    assert.equal(decode(encode(links)).length, 255);
    await refused("invalid_dag_cbor", async () => decode(encode([...links, null])));
  },
  "other texts are not CIDs": async () => {
    const good = (await blockOf("raw", octets("61"))).cid;
    assert.equal(codecOf(good), "raw");
    assert.equal(textOf(cidBytes(good)), good);
    const others = [
      "",
      "nope",
      good.slice(0, -1),
      `${good}a`,
      good.toUpperCase(),
      `${good.slice(0, -1)}1`,
      `B${good.slice(1)}`,
    ];
    const leftOver = good.slice(0, -1) + String.fromCharCode(good.charCodeAt(good.length - 1) + 1);
    for (const text of [...others, leftOver, "bafkqabtimvwgy3yk"]) await refused(null, async () => cidBytes(text));
  },
  "random bytes raise only ContentError": async () => {
    for (let seed = 1; seed < 3000; seed += 1) {
      const data = Uint8Array.from(
        { length: seed % 60 },
        (_, at) => (seed * 2654435761 * (at + 1)) >>> ((seed + at) % 24),
      );
      await ended(async () => decode(data));
      await ended(() => readCar(data));
    }
  },
  "numbers of every length are read as they were written": async () => {
    for (const value of [0, 23, 24, 255, 256, 65535, 65536, 4294967295, 4294967296, Number.MAX_SAFE_INTEGER, -1, -25]) {
      assert.equal(decode(encode(value)), value);
    }
  },
};

for (const [path, run] of Object.entries(RUNS))
  test(`vectors of ${path}`, async () => {
    const { cases, records } = vectors(`${path}.json`);
    const rows = records ?? cases;
    assert.ok(rows.length > 0);
    for (const row of rows)
      await Promise.resolve(run(row)).catch((error) => assert.fail(`${row.name}: ${error.message ?? error}`));
  });
for (const [name, work] of Object.entries(TESTS)) test(name, work);

/** @param {string | null} code @param {() => Promise<unknown>} work */
async function refused(code, work) {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ContentError, String(error));
    if (code !== null) assert.equal(error.code, code);
    return true;
  });
}

/** @param {() => Promise<unknown>} work */
async function ended(work) {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof ContentError, String(error));
  }
}

function manifestOf({ delegation, ...fields }) {
  return { ...fields, schemaVersion: 1, ...(delegation && { delegation: octets(delegation) }) };
}

/** Decodes bytes that a vector spells as hex, as base64, or as a list of hex texts and [hex, repetitions]. */
function octets(spelled) {
  if (typeof spelled !== "string") {
    const digits = spelled.map((part) => (typeof part === "string" ? part : part[0].repeat(part[1])));
    return Uint8Array.from(Buffer.from(digits.join(""), "hex"));
  }
  const isHex = /^(0x)?([0-9a-f]{2})*$/.test(spelled);
  return Uint8Array.from(Buffer.from(spelled.replace(isHex ? /^0x/ : "", ""), isHex ? "hex" : "base64"));
}

function hex(bytes) {
  return Buffer.from(bytes).toString("hex");
}

async function digest(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
