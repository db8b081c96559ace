/** The pages judge new passwords by the rule in vectors/passwords/rule.json. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { WORDS, weakness } from "../src/pages/parts/password_rule.js";
import { vectors } from "./vector_files.js";

const RULE = vectors("passwords/rule.json");

test("the words are the rule's", () => {
  assert.deepEqual(WORDS, RULE.words);
});

for (const { name, password, weakness: reason } of RULE.cases)
  test(name, () => {
    assert.equal(weakness(password), reason);
  });
