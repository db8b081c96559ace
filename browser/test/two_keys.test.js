/** Which keys sign where two owners must, and which assertions an account accepts, by the vectors that all clients share. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { fromHex, toBase64, toBase64url, toHex } from "../src/bytes.ts";
import { isAccepted, signatureIn } from "../src/chain/assertions.ts";
import { NATIVE } from "../src/chain/native.ts";
import { SecondKeyMissing } from "../src/chain/errors.ts";
import { wayOf, withinSum } from "../src/chain/two_keys.ts";
import { keccak256 } from "../src/did/keccak.ts";
import { vectors } from "./vector_files.js";

const NOBODY = `0x${"0".repeat(40)}`;
const { account, own, now, vectors: rows } = vectors("accounts/two_keys.json");

for (const row of rows)
  test(`two keys: ${row.name}`, () => {
    const { threshold, owners, second, payment } = row;
    const granted = row.permissions.map((/** @type {any} */ it) => ({ permission: it, left: BigInt(it.left) }));
    const seconds = second ? [second] : [];
    const paid = payment && { ...payment, amount: BigInt(payment.amount) };
    if (paid?.token === NOBODY) paid.token = NATIVE;
    const below = paid && threshold > 1 && withinSum(toHex(keccak256(fromHex(own))), granted, paid);
    const way = below || wayOf({ threshold, own, seconds, owners, now });
    assert.equal(way.kind, row.way);
    assert.equal(way.granted, granted[row.permission]);
    if (way.kind === "two") assert.deepEqual(way.keys, [second]);
    if (way.kind !== "missing") return;
    assert.deepEqual(way.keys, row.keys);
    assert.equal(new SecondKeyMissing(account, way.keys).message, row.message);
  });

test("a second key may be written in upper case", () => {
  const other = `0x${"cd".repeat(20)}`;
  const owners = [{ signer: other, expiry: 0 }];
  const facts = { threshold: 2, own: "0x01", seconds: [`0x${"CD".repeat(20)}`], owners, now: 0 };
  assert.deepEqual(wayOf(facts), { kind: "two", keys: [other] });
});

test("which assertions an account accepts", () => {
  const { digest, vectors: forms } = vectors("accounts/assertions.json");
  const utf8 = (/** @type {string} */ text) => new TextEncoder().encode(text);
  for (const { name, authenticatorData, clientData, accepted } of forms) {
    const response = {
      authenticatorData: toBase64(fromHex(authenticatorData)),
      clientDataJSON: toBase64(utf8(clientData)),
    };
    const assertion = toBase64(utf8(JSON.stringify({ response })));
    assert.equal(isAccepted(fromHex(digest), assertion), accepted, name);
  }
});

const { authenticatorData, vectors: ENCODED } = vectors("accounts/assertions.json").encoded;
for (const { name, signature, clientData, encoded } of ENCODED)
  test(`a passkey's signature in the account's form: ${name}`, () => {
    const [signed, data, client] = [signature, authenticatorData, clientData].map((it) => toBase64url(fromHex(it)));
    const response = { signature: signed, authenticatorData: data, clientDataJSON: client };
    const assertion = toBase64(new TextEncoder().encode(JSON.stringify({ response })));
    if (encoded) assert.equal(signatureIn(assertion), encoded);
    else assert.throws(() => signatureIn(assertion), TypeError);
  });
