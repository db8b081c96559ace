/**
 * Runs every test vector through the JavaScript host in Node, then tests the host itself.
 *
 *     node browser/test/run_vectors.js <enclave.wasm> <vectors folder> [most cases of a file]
 *
 * Prints one line per failure, then a JSON summary; exits with 1 if anything failed.
 */

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { hostTests } from "./host_tests.js";
import { runFile } from "./vectors.js";

const [wasmPath, vectorsPath, most] = process.argv.slice(2);
const wasm = await WebAssembly.compile(readFileSync(wasmPath));
const summary = { files: 0, cases: 0, host_tests: 0, failed: 0 };

function files(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => join(folder, name));
}

function failed(what) {
  summary.failed += 1;
  console.log(`FAILED ${what}`);
}

for (const path of files(vectorsPath)) {
  const ran = await runFile(wasm, readFileSync(path, "utf8"), most && Number(most));
  if (ran === null) continue; // vectors that are not for the enclave have other forms
  summary.files += 1;
  summary.cases += ran.cases;
  for (const failure of ran.failures) failed(`${path} ${failure}`);
}
for (const [name, work] of Object.entries(hostTests(readFileSync(wasmPath)))) {
  summary.host_tests += 1;
  try {
    await work();
  } catch (error) {
    failed(`${name}: ${error.message.split("\n").slice(0, 6).join(" ")}`);
  }
}
console.log(JSON.stringify(summary));
process.exitCode = summary.failed ? 1 : 0;
