/**
 * Imports every test file. With one process for all, `node --test` exits with 0 although a file throws while it is
 * loaded; here this is a failed test.
 */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";

import "./dom.js"; // before the modules that read what the operator chose when they are loaded

// A request that outlives its test would be repeated during others, and wait on timers that they replace.
const strays = [];
const { fetch } = globalThis;
globalThis.fetch = async (asked, options) => {
  if (new URL(asked).hostname === "127.0.0.1") return fetch(asked, options);
  strays.push(String(asked));
  throw new TypeError("tests ask only their own servers");
};

const here = new URL("./", import.meta.url);
for (const name of readdirSync(here).filter((it) => it.endsWith(".test.js")))
  await import(new URL(name, here).href).catch((error) => {
    test(`${name} is loaded`, () => Promise.reject(error));
  });
test("no test asks a server that it has not started", () => assert.deepEqual(strays, []));
