/** What the worker does if the removal of a key cannot be recorded in the vault. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { noteRemoval } from "../src/vault/removals.js";

const PASSWORD = { kind: "password", id: "password" };
const noted = (error) => noteRemoval(() => ({ success: false, error }), "remove_wrap", PASSWORD);

for (const error of ["conflict: tokens", "not_found: tokens"])
  test(`a record in the intended state is not a failure: ${error}`, () => {
    assert.doesNotThrow(() => noted(error));
  });

test("a removal that cannot be recorded is reported", () => {
  const reported = { name: "PluginCallError", functionName: "exec", code: "database_failure" };
  assert.throws(() => noted("database_failure"), reported);
});
