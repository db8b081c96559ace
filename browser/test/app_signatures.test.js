/** What an account signs for apps (vectors/accounts/app_signatures.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { beforeCreation, nestedText, nestedTypedData } from "../src/chain/account_signatures.ts";
import { vectors } from "./vector_files.js";

const {
  account: address,
  chainId,
  separator,
  contents,
  made,
  texts,
  types,
  creation,
} = vectors("accounts/app_signatures.json");
const DOMAIN = { address, chainId };
const LONG = { $long: `M(${"a".repeat(65_532)})`, $longer: `M(${"a".repeat(65_533)})` };

for (const { name, text, digest } of texts)
  test(`a text: ${name}`, () => {
    if (!digest) return assert.throws(() => nestedText(text, DOMAIN), TypeError);
    const nested = nestedText(text, DOMAIN);
    assert.deepEqual([nested.digest, nested.signature(made)], [digest, made]);
  });

for (const { name, type, digest, signature, ...other } of types)
  test(`typed data: ${name}`, () => {
    const data = { separator, contents, type: LONG[type] ?? type, ...other };
    if (!digest) return assert.throws(() => nestedTypedData(data, DOMAIN), TypeError);
    const nested = nestedTypedData(data, DOMAIN);
    assert.equal(nested.digest, digest);
    if (signature) assert.equal(nested.signature(made), signature);
  });

test("a signature before the account exists names the factory", () => {
  const { signature, ...call } = creation;
  assert.equal(beforeCreation(made, call), signature);
});
