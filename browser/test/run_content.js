/**
 * Runs the test vectors for the content-addressed formats, then the tests of cases that the vectors do not cover.
 *
 *     node browser/test/run_content.js <vectors folder>
 *
 * Prints one line per failure, then a JSON summary; exits with 1 if anything failed.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RUNS, TESTS } from "./content_vectors.js";

const summary = { cases: 0, tests: 0, failed: 0 };

async function tried(name, work) {
  try {
    await work();
  } catch (error) {
    summary.failed += 1;
    console.log(`FAILED ${name}: ${error.message.split("\n").slice(0, 6).join(" ")}`);
  }
}

for (const [path, run] of Object.entries(RUNS)) {
  const { cases, records } = JSON.parse(readFileSync(join(process.argv[2], `${path}.json`), "utf8"));
  for (const vector of records ?? cases) {
    summary.cases += 1;
    await tried(`${path} ${vector.name}`, () => run(vector));
  }
}
for (const [name, work] of Object.entries(TESTS)) {
  summary.tests += 1;
  await tried(name, work);
}
console.log(JSON.stringify(summary));
process.exitCode = summary.failed ? 1 : 0;
