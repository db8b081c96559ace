/** The driver for npm's did-resolver: it believes no key that does not have its name as its hash. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { fromBase64, fromHex, toBase64url, toHex } from "../src/bytes.ts";
import { didOf, documentOf, getResolver } from "../src/did-resolver.ts";
import { keccak256 } from "../src/did/keccak.ts";

// The base point of P-256, and its double (NIST SP 800-186).
const KEY =
  "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
const LATER =
  "047cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc4766997807775510db8ed040293d9ac69f7430dbba7dade63ce982299e04b79d227873d1";
const DID = "did:new:0xa000ddb94882f9f9cd0a859ed3a9f047ad43d7e2e4e7e491f1fe2e657a2651b6";
const ACCOUNT = { id: `${DID}#account`, type: "BlockchainVerificationMethod2021", controller: DID };

function jwk(key) {
  const bytes = fromHex(key);
  return { kty: "EC", crv: "P-256", x: toBase64url(bytes.slice(1, 33)), y: toBase64url(bytes.slice(33)) };
}

function method(name, key) {
  return { id: `${DID}#${name}`, type: "JsonWebKey", controller: DID, publicKeyJwk: jwk(key) };
}

function result(...verificationMethod) {
  const didDocument = { id: DID, verificationMethod: [...verificationMethod, ACCOUNT] };
  return { didDocument, didResolutionMetadata: { contentType: "application/did+ld+json" }, didDocumentMetadata: {} };
}

/** A result whose document has these members too. */
function documented(members) {
  const sent = result(method("key-1", KEY));
  return { ...sent, didDocument: { ...sent.didDocument, ...members } };
}

/** What the driver makes of a response. */
function resolved(body, options = {}) {
  const asked = [];
  const fetch = async (...given) => {
    asked.push(given);
    return typeof body === "function" ? body() : Response.json(body);
  };
  return getResolver({ service: "https://vault.example/", fetch, ...options })
    .new(DID)
    .then((found) => ({ ...found, asked }));
}

/** The bytes that a vector states in one of the enclave's forms. */
function bytesIn({ text, data }) {
  if (text !== undefined) return new TextEncoder().encode(text);
  if (Array.isArray(data)) return Uint8Array.from(data);
  return data.startsWith("0x") ? fromHex(data) : fromBase64(data);
}

test("Keccak-256 is the enclave's", () => {
  const { cases } = JSON.parse(readFileSync(new URL("../../vectors/enclave/keccak256_valid.json", import.meta.url)));
  for (const { input, output } of cases) assert.equal(toHex(keccak256(bytesIn(input))), output.hash);
});

for (const length of [0, 1, 135, 136, 137, 271, 272, 1000])
  test(`a digest of ${length} bytes has 32 bytes and depends on the last`, () => {
    const data = new Uint8Array(length + 1);
    const digest = toHex(keccak256(data));
    data[length] = 1;
    assert.equal(digest.length, 66);
    assert.notEqual(toHex(keccak256(data)), digest);
  });

test("a document is the service's if its keys have their names as hashes", async () => {
  const later = didOf(LATER).slice("did:new:".length);
  const related = documented({ authentication: [`${DID}#key-1`, ACCOUNT.id], controller: "did:pkh:eip155:1:0x1" });
  for (const sent of [result(method("key-1", KEY)), result(method(later, LATER)), result(), related]) {
    const { asked, ...found } = await resolved(sent);
    assert.deepEqual(found, sent);
    assert.equal(asked[0][0], `https://vault.example/1.0/identifiers/${encodeURIComponent(DID)}`);
  }
});

const WRONG = {
  "another key under the DID's name": result(method("key-1", LATER)),
  "a key under another name": result(method("key-2", KEY)),
  "another DID": { ...result(), didDocument: { id: didOf(LATER) } },
  "another curve": result({ ...method("key-1", KEY), publicKeyJwk: { ...jwk(KEY), crv: "secp256k1" } }),
  "a short coordinate": result({ ...method("key-1", KEY), publicKeyJwk: { ...jwk(KEY), x: "AQ" } }),
  "a key in another form": result({ ...method("key-1", KEY), publicKeyJwk: undefined, publicKeyMultibase: "z1" }),
  "a key in two forms": result({ ...method("key-1", KEY), publicKeyHex: LATER }),
  "a key that is an account": result({ ...method("key-1", KEY), blockchainAccountId: "eip155:1:0x1" }),
  "an account under a key's name": result({ ...ACCOUNT, id: `${DID}#key-1`, blockchainAccountId: "eip155:1:0x1" }),
  "a key in a relation": documented({ authentication: [method("key-2", LATER)] }),
  "a relation to another DID's key": documented({ authentication: [`${didOf(LATER)}#key-1`] }),
  "a relation of another kind": documented({ keyAgreement: [method("key-2", LATER)] }),
  "a key in an older member": documented({ publicKey: [method("key-2", LATER)] }),
  "no document and no error": { didDocument: null, didResolutionMetadata: {}, didDocumentMetadata: {} },
  "no result": [],
  null: null,
};
for (const [name, sent] of Object.entries(WRONG))
  test(`refused: ${name}`, async () => {
    const found = await resolved(sent);
    assert.equal(found.didDocument, null);
    assert.equal(found.didResolutionMetadata.error, "invalidDidDocument");
  });

test("a changed key can be refused", async () => {
  const later = result(method(didOf(LATER).slice("did:new:".length), LATER));
  assert.equal((await resolved(later, { changedKeys: false })).didResolutionMetadata.error, "invalidDidDocument");
  assert.equal((await resolved(result(method("key-1", KEY)), { changedKeys: false })).didDocument.id, DID);
});

test("a service's error is passed on, and a silent service is an error", async () => {
  const none = { didDocument: null, didResolutionMetadata: { error: "notFound" }, didDocumentMetadata: {} };
  assert.equal((await resolved(none)).didResolutionMetadata.error, "notFound");
  const silent = () => Promise.reject(new TypeError("fetch failed"));
  const endless = () =>
    new Response(new ReadableStream({ pull: (it) => it.enqueue(new Uint8Array(1 << 16).fill(32)) }));
  for (const answer of [silent, endless, () => new Response("<html>")])
    assert.equal((await resolved(answer)).didResolutionMetadata.error, "internalError");
});

test("a key alone gives a document", () => {
  assert.equal(didOf(KEY), DID);
  const document = documentOf(KEY);
  assert.equal(document.id, DID);
  assert.deepEqual(document.verificationMethod, [method("key-1", KEY)]);
  for (const wrong of ["", "04", `02${KEY.slice(2)}`, KEY.slice(0, -2)])
    assert.throws(() => documentOf(wrong), TypeError);
});
