/** Runs test vectors through the JavaScript host, in Node and in browsers. */

import { PluginCallError, fromText, instantiate, toText } from "../src/enclave-host.ts";

/**
 * Runs the cases in one file of vectors.
 *
 * @param {WebAssembly.Module} wasm the module
 * @param {string} text the file's JSON
 * @param {number} [most] how many of the file's cases are run, from the first on; by default all
 * @returns {Promise<{cases: number, failures: string[]} | null>} null for vectors that are not for an enclave function
 */
export async function runFile(wasm, text, most = Infinity) {
  const file = fromText(text);
  if (file.function === undefined) return null;
  const failures = [];
  const cases = file.cases.slice(0, most);
  for (const vector of cases) {
    try {
      await runCase(wasm, file, vector);
    } catch (error) {
      failures.push(`${vector.name}: ${error.message.slice(0, 500)}`);
    }
  }
  return { cases: cases.length, failures };
}

async function runCase(wasm, file, vector) {
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

function check(enclave, name, step, kept) {
  if (step.raw !== undefined) {
    expect(step.error, JSON.parse(enclave.callRaw(name, step.raw)).error.code);
    return;
  }
  let answer;
  try {
    answer = enclave.call(name, filled(step.input, kept));
  } catch (error) {
    if (!(error instanceof PluginCallError) || step.error === undefined) throw error;
    expect(step.error, error.code);
    return;
  }
  if (step.error !== undefined) throw new Error(`answered ${toText(answer)} instead of failing`);
  if (step.output !== undefined) expect(step.output, answer);
  if (step.contains !== undefined) contains(step.contains, answer);
  for (const [into, field] of Object.entries(step.keep ?? {})) kept[into] = answer[field];
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
  return hex === undefined ? null : Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function filled(value, kept) {
  if (typeof value === "string" && value.startsWith("$")) return kept[value.slice(1)] ?? value;
  if (Array.isArray(value)) return value.map((item) => filled(item, kept));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filled(item, kept)]));
}

function contains(expected, actual) {
  if (expected === null || typeof expected !== "object" || Array.isArray(expected)) return expect(expected, actual);
  for (const [name, value] of Object.entries(expected)) contains(value, actual?.[name]);
}

function expect(expected, actual) {
  if (!same(expected, actual)) throw new Error(`${toText(actual)} instead of ${toText(expected)}`);
}

function same(one, other) {
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object")
    return Object.is(one, other);
  const names = Object.keys(one);
  if (Array.isArray(one) !== Array.isArray(other) || names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]));
}
