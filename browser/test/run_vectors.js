/**
 * Runs every vector through the JavaScript host, then checks the host itself.
 *
 *     node browser/test/run_vectors.js <enclave.wasm> <vectors folder>
 *
 * Prints one line per failure, then a JSON summary; exits with 1 when anything failed.
 */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PluginCallError, fromText, instantiate, toText } from "../src/enclave-host.js";
import { hostTests } from "./host_tests.js";

const [wasmPath, vectorsPath] = process.argv.slice(2);
const wasm = await WebAssembly.compile(readFileSync(wasmPath));

function files(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => join(folder, name));
}

function hostOf(vector) {
  const host = { now_ms: vector.now_ms, bytes: stream(vector.random) };
  const options = {
    random: (target) => {
      if (host.bytes === null) return crypto.getRandomValues(target);
      if (target.length > host.bytes.length) throw new Error("out of randomness");
      target.set(host.bytes.subarray(0, target.length));
      host.bytes = host.bytes.subarray(target.length);
    },
  };
  if (host.now_ms !== undefined) options.now = () => host.now_ms;
  return { host, options };
}

function stream(hex) {
  return hex === undefined ? null : Buffer.from(hex, "hex");
}

function matches(expected, actual) {
  if (expected === null || typeof expected !== "object" || Array.isArray(expected)) {
    assert.deepEqual(actual, expected);
    return;
  }
  for (const [name, value] of Object.entries(expected)) matches(value, actual?.[name]);
}

function filled(value, kept) {
  if (typeof value === "string" && value.startsWith("$")) return kept[value.slice(1)] ?? value;
  if (Array.isArray(value)) return value.map((item) => filled(item, kept));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filled(item, kept)]));
}

function check(enclave, name, step, kept) {
  if (step.raw !== undefined) {
    assert.equal(JSON.parse(enclave.callRaw(name, step.raw)).error.code, step.error);
    return;
  }
  let answer;
  try {
    answer = enclave.call(name, filled(step.input, kept));
  } catch (error) {
    if (!(error instanceof PluginCallError) || step.error === undefined) throw error;
    assert.equal(error.code, step.error);
    return;
  }
  assert.equal(step.error, undefined, `answered ${toText(answer)} instead of failing`);
  if (step.output !== undefined) assert.deepEqual(answer, step.output);
  if (step.contains !== undefined) matches(step.contains, answer);
  for (const [into, field] of Object.entries(step.keep ?? {})) kept[into] = answer[field];
}

async function runCase(file, vector) {
  const { host, options } = hostOf(vector);
  const instances = {};
  const kept = {};
  for (const step of vector.steps ?? [vector]) {
    if (step.now_ms !== undefined) host.now_ms = step.now_ms;
    if (step.random !== undefined && step !== vector) host.bytes = stream(step.random);
    const on = step.on ?? "a";
    instances[on] ??= await instantiate(wasm, options);
    check(instances[on], step.function ?? file.function, step, kept);
  }
  for (const enclave of Object.values(instances)) enclave.wipe();
}

const summary = { files: 0, cases: 0, host_tests: 0, failed: 0 };

async function attempt(name, work) {
  try {
    await work();
  } catch (error) {
    summary.failed += 1;
    console.log(`FAILED ${name}: ${error.message.split("\n").slice(0, 6).join(" ")}`);
  }
}

for (const path of files(vectorsPath)) {
  const file = fromText(readFileSync(path, "utf8"));
  if (file.function === undefined) continue; // vectors of other rooms have other forms
  summary.files += 1;
  for (const vector of file.cases) {
    summary.cases += 1;
    await attempt(`${path} ${vector.name}`, () => runCase(file, vector));
  }
}
for (const [name, work] of Object.entries(hostTests(readFileSync(wasmPath)))) {
  summary.host_tests += 1;
  await attempt(name, work);
}
console.log(JSON.stringify(summary));
process.exitCode = summary.failed ? 1 : 0;
