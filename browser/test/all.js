/**
 * Imports every test file. With one process for all, `node --test` exits with 0 although a file throws while it is
 * loaded; here this is a failed test.
 */

import { readdirSync } from "node:fs";
import { test } from "node:test";

import "./dom.js"; // before the modules that read what the operator chose when they are loaded

const here = new URL("./", import.meta.url);
for (const name of readdirSync(here).filter((it) => it.endsWith(".test.js")))
  await import(new URL(name, here).href).catch((error) => {
    test(`${name} is loaded`, () => Promise.reject(error));
  });
