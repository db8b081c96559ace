/** Handles that read as another kind of identifier (vectors/service/handles.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { canonicalHandle } from "../src/chain/names.js";
import { formOf } from "../src/pages/parts/handle_forms.js";
import { vectors } from "./vector_files.js";

for (const { given, key, form } of vectors("service/handles.json").cases)
  test(JSON.stringify(given), () => {
    assert.deepEqual([canonicalHandle(given), formOf(canonicalHandle(given))], [key, form]);
  });
