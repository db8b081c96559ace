/** Tests of the JavaScript host in addition to the vectors. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Enclave, PluginCallError, WasmLoadError, fromText, toText } from "../src/enclave-host.ts";
import { instantiate, memoryOf } from "./memory_of.js";

const TYPE = { headers: { "content-type": "application/wasm" } };

function trapping() {
  const memory = new WebAssembly.Memory({ initial: 2 });
  const exports = {
    memory,
    _initialize() {},
    enclave_abi: () => 1,
    enclave_alloc: () => 65536,
    enclave_free() {},
    enclave_call() {
      throw new WebAssembly.RuntimeError("unreachable");
    },
  };
  return new Enclave({ exports }, { memory: null });
}

/** A fake clock with timers, which advances only on request. */
class Timers {
  now = 1700000000000;
  waiting = new Set();

  after(ms, work) {
    const timer = { at: this.now + ms, work };
    this.waiting.add(timer);
    return () => this.waiting.delete(timer);
  }

  /** Advances the clock and fires every timer that becomes due. */
  pass(ms) {
    const end = this.now + ms;
    for (;;) {
      const [next] = [...this.waiting].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.waiting.delete(next);
      this.now = next.at;
      next.work();
    }
    this.now = end;
  }
}

const DEVICE = "a name that stands in the database alone";
const KEY = { kind: "secret", secret: new Uint8Array(32).fill(7) };
// An attestation object with the format "none".
export const CREDENTIAL =
  "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUv6vDdDKViwYzYNOtZGHJxHNa5/jt1GWSpeDwFFKy5LVFAAAABwAAAAAAAAAAAAAAAAAAAAAAEAABAgMEBQYHCAkKCwwNDg+lAQIDJiABIVggJu/OvQ7p40pmkYfhizqRIrL3M5RbZJzJ+fkh6fna2BIiWCCQI4venMe7Mw0VDGdwTdJa5wVSBXRLbzG/QHB0WHLQ5g==";

async function opened(wasm, timers) {
  const enclave = await instantiate(wasm, { now: () => timers.now, after: (ms, work) => timers.after(ms, work) });
  enclave.call("generate", { credential: CREDENTIAL, key: KEY, device_name: DEVICE });
  return enclave;
}

/** Whether the decrypted database is in memory. Reads the memory directly, because a call would lock an idle vault. */
const isOpen = (enclave) => Buffer.from(memoryOf(enclave)).includes(DEVICE);

/** @param {Uint8Array} wasm the module */
export function hostTests(wasm) {
  const hash = createHash("sha256").update(wasm).digest("hex");
  return {
    "loads bytes, a compiled module, and responses with and without the right content type": async () => {
      const sources = [
        wasm,
        new Uint8Array(wasm).buffer,
        await WebAssembly.compile(wasm),
        new Response(wasm, TYPE),
        Promise.resolve(new Response(wasm)),
        new URL(`data:application/wasm;base64,${Buffer.from(wasm).toString("base64")}`),
      ];
      for (const source of sources) assert.equal((await instantiate(source)).call("version").abi, 1);
    },
    "streams if it can": async () => {
      const streaming = WebAssembly.instantiateStreaming;
      let streamed = 0;
      WebAssembly.instantiateStreaming = (...given) => ((streamed += 1), streaming(...given));
      try {
        await instantiate(new Response(wasm, TYPE));
        await instantiate(new Response(wasm));
        await instantiate(new Response(wasm, TYPE), { sha256: hash });
      } finally {
        WebAssembly.instantiateStreaming = streaming;
      }
      assert.equal(streamed, 1);
    },
    "checks the module's hash before compiling": async () => {
      await instantiate(wasm, { sha256: hash.toUpperCase() });
      await assert.rejects(instantiate(wasm, { sha256: "0".repeat(64) }), WasmLoadError);
      await assert.rejects(instantiate(await WebAssembly.compile(wasm), { sha256: hash }), WasmLoadError);
    },
    "reports what cannot be loaded": async () => {
      const bad = [new Uint8Array([1, 2, 3]), new Response("gone", { status: 404 }), new Response("x", TYPE)];
      for (const source of bad) {
        await assert.rejects(instantiate(source), (error) => {
          assert.ok(error instanceof WasmLoadError && error.name === "WasmLoadError");
          return error.message.startsWith("WASM load failed: ");
        });
      }
    },
    "errors contain the function's name and the code": async () => {
      const enclave = await instantiate(wasm);
      assert.throws(
        () => enclave.call("keccak256", { data: [256] }),
        (error) => {
          assert.ok(error instanceof PluginCallError && error instanceof Error);
          assert.deepEqual(
            [error.name, error.functionName, error.code],
            ["PluginCallError", "keccak256", "invalid_encoding"],
          );
          return error.message.startsWith("keccak256: ");
        },
      );
      assert.throws(() => enclave.call("no such"), { code: "unknown_function" });
    },
    "byte arrays of every kind are passed": async () => {
      const enclave = await instantiate(wasm);
      const bytes = Uint8Array.from({ length: 70000 }, (_, i) => i & 255);
      const wanted = enclave.call("keccak256", { data: Array.from(bytes) });
      const padded = new Uint8Array([9, ...bytes, 9]);
      const kinds = [
        bytes,
        bytes.buffer,
        padded.subarray(1, -1),
        new DataView(padded.buffer, 1, bytes.length),
        Buffer.from(bytes),
      ];
      for (const data of kinds) assert.deepEqual(enclave.call("keccak256", { data }), wanted);
    },
    "whole numbers are exact in both directions, and nothing else is mistaken for one": async () => {
      const enclave = await instantiate(wasm);
      for (const value of [2n ** 53n, -(2n ** 53n) - 1n, 2n ** 64n - 1n, -(2n ** 64n)]) {
        const { data } = enclave.call("dag_cbor_encode", { value: { n: value, list: [value, 1, 1.5] } });
        assert.deepEqual(enclave.call("dag_cbor_decode", { data }).value, { list: [value, 1, 1.5], n: value });
      }
      const plain = [
        Number.MAX_SAFE_INTEGER,
        -Number.MAX_SAFE_INTEGER,
        1.5e300,
        0.1234567890123456789,
        "12345678901234567890",
      ];
      const odd = ['"', "\\", '\\"', '": 12345678901234567890, "', "12345678901234567890\\"];
      for (const value of [plain, odd, { 12345678901234567890: odd }, [...odd, ...plain, 12345678901234567890n]]) {
        assert.deepEqual(fromText(toText({ value })), { value });
      }
      assert.equal(
        toText({ a: 12345678901234567890n, b: [new Uint8Array(3)] }),
        '{"a":12345678901234567890,"b":["AAAA"]}',
      );
      const long = { text: '\\"1'.repeat(2 ** 20) + "1234567890123456", n: 2n ** 60n };
      assert.deepEqual(fromText(toText(long)), long);
    },
    "bytes whose base64 looks like hex stay bytes": async () => {
      const enclave = await instantiate(wasm);
      const data = Uint8Array.from(atob("0xab"), (char) => char.charCodeAt(0));
      assert.equal(enclave.call("keccak256", { data }).hash, enclave.call("keccak256", { data: [...data] }).hash);
      assert.notEqual(enclave.call("keccak256", { data }).hash, enclave.call("keccak256", { data: "0xab" }).hash);
    },
    "large inputs and memory growth leave no stale views": async () => {
      const enclave = await instantiate(wasm);
      const before = memoryOf(enclave).length;
      const large = new Uint8Array(4 << 20);
      const hash = enclave.call("keccak256", { data: large }).hash;
      assert.ok(memoryOf(enclave).length > before);
      assert.equal(enclave.call("keccak256", { data: large }).hash, hash);
      assert.equal(enclave.call("version").abi, 1);
    },
    "randomness is requested in pieces that browsers allow": async () => {
      const asked = [];
      const original = crypto.getRandomValues.bind(crypto);
      crypto.getRandomValues = (bytes) => (asked.push(bytes.length), original(bytes));
      try {
        const first = (await instantiate(wasm)).call("sync_init");
        const second = (await instantiate(wasm)).call("sync_init");
        assert.notEqual(first.session_id, second.session_id);
      } finally {
        delete crypto.getRandomValues;
      }
      assert.ok(asked.length > 0 && asked.every((length) => length <= 65536));
    },
    "no key is created without randomness": async () => {
      const enclave = await instantiate(wasm, {
        random: () => {
          throw new Error("none");
        },
      });
      assert.throws(() => enclave.call("sync_init"), { code: "entropy_unavailable" });
    },
    "wiping leaves nothing and closes the instance": async () => {
      const enclave = await instantiate(wasm);
      enclave.call("sync_init");
      assert.ok(memoryOf(enclave).some((byte) => byte !== 0));
      enclave.wipe();
      enclave.wipe();
      assert.ok(enclave.closed);
      assert.ok(memoryOf(enclave).every((byte) => byte === 0));
      assert.throws(() => enclave.call("version"), { name: "PluginCallError", code: null });
    },
    "the input does not stay in memory": async () => {
      const enclave = await instantiate(wasm);
      const secret = "a passphrase that must not be found afterwards";
      enclave.call("keccak256", { text: secret });
      assert.equal(Buffer.from(memoryOf(enclave)).indexOf(secret), -1);
    },
    "an idle vault is erased on time, without a call": async () => {
      const timers = new Timers();
      const enclave = await opened(wasm, timers);
      timers.pass(899000);
      assert.ok(isOpen(enclave));
      timers.pass(1100);
      assert.ok(!isOpen(enclave));
      assert.equal(timers.waiting.size, 0);
      assert.ok(enclave.call("unlock", { key: KEY }).success);
      timers.pass(901000);
      assert.ok(!isOpen(enclave));
    },
    "activity postpones the lock, status calls do not": async () => {
      const timers = new Timers();
      const enclave = await opened(wasm, timers);
      enclave.call("set_auto_lock", { idle_seconds: 300 });
      timers.pass(200000);
      enclave.call("query", { did: "" });
      for (let minute = 0; minute < 4; minute++) timers.pass(60000);
      timers.pass(59000);
      assert.ok(isOpen(enclave));
      timers.pass(2000);
      assert.ok(!isOpen(enclave));
    },
    "no timer outlives the open vault, and none is set if it never locks": async () => {
      const timers = new Timers();
      const wiped = await opened(wasm, timers);
      wiped.wipe();
      assert.equal(timers.waiting.size, 0);
      const enclave = await opened(wasm, timers);
      enclave.call("set_auto_lock", { idle_seconds: 0 });
      assert.equal(timers.waiting.size, 0);
      timers.pass(7 * 24 * 3600000);
      assert.ok(isOpen(enclave));
      enclave.call("set_auto_lock", { idle_seconds: 60 });
      enclave.call("lock");
      timers.pass(61000);
      assert.equal(timers.waiting.size, 0);
    },
    "a module that is not an enclave is not loaded": async () => {
      const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
      await assert.rejects(instantiate(empty), WasmLoadError);
    },
    "asynchronous randomness is refused": async () => {
      for (const random of [async () => {}, async () => Promise.reject(new Error("none"))]) {
        const enclave = await instantiate(wasm, { random });
        assert.throws(() => enclave.call("sync_init"), { code: "entropy_unavailable" });
      }
    },
    "with an implausible clock nothing is accepted as valid": async () => {
      for (const time of [NaN, Infinity, -1, undefined]) {
        const enclave = await instantiate(wasm, { now: () => time });
        assert.throws(() => enclave.call("sync_init"), { code: "clock_unavailable" });
      }
    },
    "a caller's mistake does not close the vault": async () => {
      const enclave = await opened(wasm, new Timers());
      const circular = {};
      circular.itself = circular;
      assert.throws(() => enclave.call("query", circular), TypeError);
      assert.throws(() => enclave.call(Symbol("query")), TypeError);
      assert.throws(() => enclave.call("keccak256", { text: "\ud800" }), { code: "invalid_json" });
      assert.ok(enclave.call("query").did);
    },
    "a trap discards the instance": () => {
      const enclave = trapping();
      assert.throws(() => enclave.call("anything"), { name: "PluginCallError", code: null });
      assert.ok(enclave.closed);
    },
  };
}
