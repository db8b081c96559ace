/** The pages judge new passwords by the rule in vectors/passwords/rule.json. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Vault } from "../src/vault/vault.ts";
import { weakness } from "../src/vault/password_rule.ts";
import { vectors } from "./vector_files.js";

const RULE = vectors("passwords/rule.json");

for (const { name, password, weakness: reason } of RULE.cases)
  test(name, () => {
    assert.equal(weakness(password), reason);
  });

for (const [password, minPassword, message] of [
  ["horse", undefined, /too short: use at least 12/],
  ["correct horse", 14, /too short: use at least 14/],
  ["password1234", undefined, /too simple/],
  ["correct horse battery", 7, /cannot be below 8/],
])
  test(`no file is exported with the password ${password}, at least ${minPassword}`, async () => {
    await assert.rejects(new Vault({}).export({ password }, { minPassword }), { name: "TypeError", message });
  });
