/** Signatures that name who signed are those of the shared vectors. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { byName, named, p256Signer } from "../src/chain/owners.ts";
import { instantiate } from "../src/enclave-host.ts";

const { vectors } = JSON.parse(readFileSync(new URL("../../vectors/accounts/named_signatures.json", import.meta.url)));
const module = readFileSync(new URL("../../src/holdfast/enclave/enclave.wasm", import.meta.url));
const enclave = await instantiate(module);
const keyId = (signer) => enclave.call("keccak256", { data: signer }).hash;

for (const { name, signatures, named: expected } of vectors)
  test(name, () => {
    const signed = signatures.map((it) => ({ ...it, keyId: keyId(it.signer) }));
    assert.equal(named(signed), expected);
    assert.equal(named(signed.toReversed()), expected);
  });

test("no one, a signer twice, and what is too long are refused", () => {
  const one = { keyId: "0x01", signer: `0x${"01".repeat(20)}`, signature: "0x02" };
  for (const signed of [[], [one, one], [{ ...one, signature: `0x${"02".repeat(1 << 16)}` }]])
    assert.throws(() => named(signed), TypeError);
});

test("a key that signs alone stands before its signature", () => assert.equal(byName("0x01", "0x02"), "0x0102"));

test("a P-256 key's signer has its leading zeros", () => {
  assert.equal(p256Signer({ x: 1n, y: 2n }), `0x${"0".repeat(63)}1${"0".repeat(63)}2`);
});
