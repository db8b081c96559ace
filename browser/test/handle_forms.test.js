/** Handles that read as another kind of identifier (vectors/service/handles.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { canonicalHandle, checkedHandle } from "../src/chain/names.ts";
import { formOf } from "../src/pages/parts/handle_forms.ts";
import { Vault } from "../src/vault/vault.ts";
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

test("an alias is hashed in its canonical form, by the given function or else by the enclave", async () => {
  const hex = (bytes) => `0x${Buffer.from(bytes).toString("hex")}`;
  const vault = Object.assign(new Vault({}), { keccak256: async (bytes) => `the enclave's of ${hex(bytes)}` });
  assert.equal(await vault.aliasHash("\uff21da ", hex), "0x616461");
  assert.equal(await vault.aliasHash("ADA"), "the enclave's of 0x616461");
});
