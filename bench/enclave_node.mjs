/**
 * Times the enclave's operations in Node, through the browser's host. bench/node.py starts this script with the
 * module's path and a credential (base64). The script reads {"operation", "floor"} line by line, and prints the CPU
 * seconds per call for each.
 *
 * With --start instead of the credential, it prints once the milliseconds from reading the file to the first response.
 */

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { instantiate } from "../browser/src/enclave-host.ts";

const [, , path, credential] = process.argv;
const key = { kind: "secret", secret: Buffer.alloc(32, 7).toString("base64") };
const digest = new Uint8Array(32).fill(5);
const block = new Uint8Array(1024);
const KIB = 1024;

async function warmStart() {
  const started = performance.now();
  const enclave = await instantiate(readFileSync(path));
  enclave.call("version");
  console.log(performance.now() - started);
}

async function vault(module, curve) {
  const enclave = await instantiate(await WebAssembly.compile(module));
  enclave.call("generate", { credential, key, curve });
  return enclave;
}

const size = (enclave) => Buffer.from(enclave.call("save").database, "base64").length;

async function filled(module, bytes) {
  const enclave = await vault(module, "P-256");
  const args = { type: "t".repeat(400), endpoint: "e".repeat(400) };
  while (size(enclave) < bytes) enclave.call("exec", { filter: "resource:services action:create", args });
  return enclave;
}

async function withRows(module, rows) {
  const enclave = await vault(module, "P-256");
  for (let number = 0; number < rows; number++) {
    const args = { address: `0x${number.toString(16).padStart(40, "0")}`, chain_id: "1" };
    enclave.call("exec", { filter: "resource:accounts action:create", args });
  }
  return enclave;
}

async function operations(module) {
  const p256 = await vault(module, "P-256");
  const secp256k1 = await vault(module, "secp256k1");
  const large = await filled(module, 100 * KIB);
  const rows = await withRows(module, 1000);
  const { database } = rows.call("save");
  const compiled = await WebAssembly.compile(module);
  return {
    sign_p256: () => p256.call("sign", { digest }),
    sign_secp256k1: () => secp256k1.call("sign", { digest }),
    create_key: () => p256.call("exec", { filter: "resource:enclaves action:create", args: { curve: "P-256" } }),
    keccak: () => p256.call("keccak256", { data: block }),
    export: () => p256.call("export", { password: "password" }),
    save: () => large.call("save"),
    save_rows: () => rows.call("save"),
    async load_rows() {
      const fresh = await instantiate(compiled);
      fresh.call("load", { database, key });
      fresh.wipe();
    },
  };
}

/** Return the CPU seconds per call, measured over at least `floor` seconds of calls. */
async function time(work, floor) {
  const started = process.cpuUsage();
  for (let calls = 1; ; calls++) {
    const pending = work();
    if (pending instanceof Promise) await pending; // awaiting a plain value would cost a turn of the event loop
    const { user, system } = process.cpuUsage(started);
    if ((user + system) / 1e6 >= floor) return (user + system) / 1e6 / calls;
  }
}

if (credential === "--start") {
  await warmStart();
} else {
  const works = await operations(readFileSync(path));
  console.log("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    const { operation, floor } = JSON.parse(line);
    console.log(await time(works[operation], floor));
  }
}
