/** Passkeys on the exit page: on which site, which owner, and what is said where the browser has none. */

import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";

import { passkeyOf, signerAmong, siteIn } from "../src/exit/passkey.js";
import { toBase64url } from "../src/bytes.js";

test("a site is a host name, or the address of a page on it", () => {
  assert.equal(siteIn(" example.org "), "example.org");
  assert.equal(siteIn("https://example.org/vault"), "example.org");
  assert.equal(siteIn("localhost:8787"), "localhost");
  for (const wrong of ["", "not a host", "https://"]) assert.equal(siteIn(wrong), "");
});

test("the owner is the one whose key made the signature", async () => {
  const mine = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signers = [
    signerOf(generateKeyPairSync("ec", { namedCurve: "P-256" })),
    `0x${"a1".repeat(20)}`,
    signerOf(mine),
  ];
  assert.equal(await signerAmong(signers, assertion(mine.privateKey)), signers[2]);
  assert.equal(await signerAmong(signers.slice(0, 2), assertion(mine.privateKey)), "");
});

test("where the browser has no passkey of the site, the page says where to put the file", async () => {
  assert.equal(await told("SecurityError"), "passkey.elsewhere example.org");
  assert.equal(await told("NotAllowedError"), "passkey.none example.org");
  assert.equal(await told("NotAllowedError", "file:"), "passkey.elsewhere example.org");
});

/** What the page says if the browser throws an error of this name. @param {string} name @param {string} [protocol] */
async function told(name, protocol = "https:") {
  const get = () => Promise.reject(new DOMException("", name));
  const stubs = /** @type {[string, unknown][]} */ ([
    ["location", { protocol }],
    ["PublicKeyCredential", class {}],
    ["navigator", { credentials: { get } }],
    ["document", { hasFocus: () => true }],
  ]);
  const before = stubs.map(([it]) => /** @type {const} */ ([it, Object.getOwnPropertyDescriptor(globalThis, it)]));
  for (const [it, value] of stubs) Object.defineProperty(globalThis, it, { value, configurable: true });
  const page = /** @type {any} */ ({
    text: (/** @type {string} */ key, /** @type {any} */ { site }) => `${key} ${site}`,
  });
  try {
    return await passkeyOf(page, "example.org").then(String, (error) => error.message);
  } finally {
    for (const [it, was] of before) {
      if (was) Object.defineProperty(globalThis, it, was);
      else Reflect.deleteProperty(globalThis, it);
    }
  }
}

/** @param {import("node:crypto").KeyPairKeyObjectResult} pair */
function signerOf({ publicKey }) {
  const { x, y } = publicKey.export({ format: "jwk" });
  return `0x${[x, y].map((it) => Buffer.from(String(it), "base64url").toString("hex")).join("")}`;
}

/** @param {import("node:crypto").KeyObject} key */
function assertion(key) {
  const client = Buffer.from('{"type":"webauthn.get","challenge":"AAAA","origin":"https://example.org"}');
  const data = Buffer.alloc(37, 5);

  const hash = createHash("sha256").update(client).digest();
  const signature = sign("sha256", Buffer.concat([data, hash]), key);
  const response = { signature, authenticatorData: data, clientDataJSON: client };
  const fields = Object.entries(response).map(([name, it]) => [name, toBase64url(new Uint8Array(it))]);
  return Buffer.from(JSON.stringify({ response: Object.fromEntries(fields) })).toString("base64");
}
