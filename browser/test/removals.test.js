/** How the removals of keys are recorded in the vault, and repeated in another version of it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { removeAll } from "../src/snapshots/versions.ts";
import { noteRemoval } from "../src/vault/removals.ts";

const PASSWORD = { kind: "password", id: "password" };
const noted = (error) => noteRemoval(() => ({ success: false, error }), { fn: "remove_wrap", args: PASSWORD });

for (const error of ["conflict: tokens", "not_found: tokens"])
  test(`a record in the intended state is not a failure: ${error}`, () => {
    assert.doesNotThrow(() => noted(error));
  });

test("a removal that cannot be recorded is reported", () => {
  const reported = { name: "PluginCallError", functionName: "exec", code: "database_failure" };
  assert.throws(() => noted("database_failure"), reported);
});

test("keys that another version removed are removed, and recorded if this version never had them", async () => {
  const done = [];
  const vault = {
    keys: async () => ({
      wraps: [
        { kind: "prf", id: "lost" },
        { kind: "prf", id: "kept" },
        { kind: "secret", id: "gone" },
      ],
    }),
    removeKey: async (...name) => void done.push(["removed", ...name]),
    exec: async (filter, { value }) => (done.push([filter, value]), { success: true }),
  };
  const names = [
    ["password", "lost"],
    ["prf", "gone"],
    ["prf", "lost"],
  ].map(([kind, id]) => ({ kind, id }));
  await removeAll(vault, names);
  assert.deepEqual(done, [
    ["resource:tokens action:create", "password:lost"],
    ["resource:tokens action:create", "prf:gone"],
    ["removed", "prf", "lost"],
  ]);
});
