/** Handles that read as another kind of identifier (vectors/service/handles.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { canonicalHandle, checkedHandle } from "../src/chain/names.ts";
import { formOf } from "../src/pages/parts/handle_forms.ts";
import { vectors } from "./vector_files.js";

const { cases, invalid } = vectors("service/handles.json");

for (const { given, key, form } of cases)
  test(JSON.stringify(given), () => {
    assert.deepEqual([checkedHandle(given), formOf(canonicalHandle(given))], [key, form]);
  });

for (const given of invalid)
  test(`not a handle: ${JSON.stringify(given)}`, () => {
    assert.throws(() => checkedHandle(given), TypeError);
  });
