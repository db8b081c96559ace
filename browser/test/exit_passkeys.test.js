/** Passkeys on the exit page: on which site, which owner, what they sign, and what is said where the browser has none. */

import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { PasskeyAlone } from "../src/exit/alone.ts";
import { temporaryVault } from "../src/exit/opened.ts";
import { passkeyOf, siteIn } from "../src/exit/passkey.ts";
import { bundledPlan, signed } from "../src/exit/plan.ts";
import { ownerAmong } from "../src/exit/standing.ts";
import { operationHash } from "../src/exit/address.ts";
import { signatureIn } from "../src/chain/assertions.ts";
import { keccak256 } from "../src/did/keccak.ts";
import { instantiate } from "../src/enclave-host.ts";
import { passkeyAmong, signersIn } from "../src/passkeys/among.ts";
import { ENTRY_POINTS } from "../src/generated/contracts.ts";
import { fromHex, toBase64url, toHex } from "../src/bytes.ts";

const WASM = new Uint8Array(readFileSync(new URL("../../src/holdfast/enclave/enclave.wasm", import.meta.url)));
const enclave = await instantiate(WASM);
const call = (/** @type {string} */ fn, /** @type {object} */ args) => enclave.call(fn, args);
const ACCOUNT = `0x${"a1".repeat(20)}`;

test("a site is a host name, or the address of a page on it", () => {
  assert.equal(siteIn(" example.org "), "example.org");
  assert.equal(siteIn("https://example.org/vault"), "example.org");
  assert.equal(siteIn("localhost:8787"), "localhost");
  for (const wrong of ["", "not a host", "https://"]) assert.equal(siteIn(wrong), "");
});

test("a signature alone names two keys, of which one made it", async () => {
  for (let turn = 0; turn < 4; turn += 1) {
    const [mine, other] = [0, 1].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }));
    const found = await signersIn(assertion(mine.privateKey), call);
    assert.equal(found.length, 2);
    assert.ok(found.includes(signerOf(mine)) && !found.includes(signerOf(other)));
  }
});

test("of the keys that a signature names, the owner is the one that the chain knows", async () => {
  const [one, other] = [`0x${"01".repeat(64)}`, `0x${"02".repeat(64)}`];
  const chain = { code: "0x60", owner: other, expiry: 0 };
  const node = /** @type {any} */ ({
    call: async () => chain.code,
    read: async (/** @type {string} */ _to, /** @type {string} */ data) => {
      const isOwner = data.endsWith(toHex(keccak256(fromHex(chain.owner))).slice(2));
      return `0x${[isOwner ? 1 : 0, chain.expiry, 0].map((it) => it.toString(16).padStart(64, "0")).join("")}`;
    },
  });
  const found = (/** @type {object} */ _changed) => ownerAmong(node, ACCOUNT, [one, other]);
  assert.equal(await found(chain), other);
  assert.equal(await found(Object.assign(chain, { expiry: 1 })), "");
  assert.equal(await found(Object.assign(chain, { expiry: 0, owner: ACCOUNT })), "");
  assert.equal(await found(Object.assign(chain, { owner: one, code: "0x" })), "");
});

test("a passkey alone signs the operation by its name, also as the primary key, with gas for its assertion", async () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = signerOf(pair);
  const made = assertion(pair.privateKey);
  /** @type {string[]} */
  const asked = [];
  const ask = async (/** @type {Uint8Array} */ challenge) => (asked.push(toHex(challenge)), { assertion: made });
  const vault = new PasskeyAlone({ signer, ask }, ACCOUNT, await temporaryVault(WASM, fromHex(signer)));
  const estimated = { callGasLimit: "0x1", verificationGasLimit: "0x2", preVerificationGas: "0x3" };
  const bundler = /** @type {any} */ ({ estimated: async (/** @type {object} */ it) => ({ ...it, ...estimated }) });
  let precompile = 1n;
  const node = /** @type {any} */ ({
    call: async () => ({ baseFeePerGas: "0x1" }),
    quantity: async () => 1n,
    word: async () => precompile,
  });
  const standing = /** @type {any} */ ({
    ...{ account: ACCOUNT, chainId: 1, entryPoint: ENTRY_POINTS[1], isDeployed: true, isNamed: false, second: "" },
    ...{ nonce: 0n, coin: 10n ** 18n, deposit: 0n, tokens: [], nfts: [] },
  });
  const keys = { vault, second: null };
  const planned = (/** @type {object} */ changed) =>
    bundledPlan(node, bundler, { ...standing, ...changed }, keys, `0x${"b2".repeat(20)}`);
  const gas = [await planned({}), ((precompile = 0n), await planned({ second: signer })), await planned({})];
  assert.deepEqual(
    gas.map((it) => Number(it?.operation.verificationGasLimit) - 2),
    [60000, 600000, 600000], // as Python's client adds them for each passkey
  );
  const plan = /** @type {any} */ (gas[2]);
  assert.ok(plan.operation.signature.startsWith(signer));
  const { operation, hash } = await signed(keys, standing, plan.operation);
  assert.equal(operation.signature, signer + signatureIn(made).slice(2));
  assert.deepEqual(asked, [hash]);
  assert.equal(hash, operationHash(operation, standing));
});

test("the address that pays for a passkey alone still signs after an hour of waiting for coin", async (it) => {
  it.mock.timers.enable({ apis: ["Date", "setTimeout"] });
  const signer = signerOf(generateKeyPairSync("ec", { namedCurve: "P-256" }));
  const vault = await temporaryVault(WASM, fromHex(signer));
  const { address, sign } = vault.payer();
  it.mock.timers.tick(60 * 60 * 1000);
  assert.match(address, /^0x[0-9a-fA-F]{40}$/);
  assert.match(sign(new Uint8Array(32).fill(1)).signature, /^[0-9a-f]{128}$/);
});

test("a passkey is known among an account's owners by what it signs, and signs again", async () => {
  const [pair, other] = [0, 1].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }));
  /** @type {any[]} */
  const asked = [];
  const get = async (/** @type {any} */ { publicKey }) => {
    asked.push(publicKey);
    const { response } = JSON.parse(Buffer.from(assertion(pair.privateKey), "base64").toString());
    const fields = Object.entries(response).map(([name, it]) => [name, Buffer.from(String(it), "base64url")]);
    const used = { id: "AAAA", rawId: new Uint8Array(3), type: "public-key", response: Object.fromEntries(fields) };
    return { ...used, getClientExtensionResults: () => ({}) };
  };
  await inBrowser(get, "https:", async () => {
    const owners = [`0x${"a1".repeat(20)}`, signerOf(other), signerOf(pair)].map((it) => ({ signer: it, expiry: 0 }));
    const owner = await passkeyAmong(owners, { rpId: "example.org" }, call);
    assert.equal(owner.signer, signerOf(pair));
    assert.match(await owner.sign(`0x${"05".repeat(32)}`), /^0x[0-9a-f]{700,}$/);
    const over = { ...owners[2], expiry: 1 };
    for (const others of [owners.slice(0, 2), [...owners.slice(0, 2), over]])
      await assert.rejects(passkeyAmong(others, { rpId: "example.org" }, call), /is not an owner/);
  });
  assert.deepEqual([...new Set(asked.map(({ rpId }) => rpId))], ["example.org"]);
  assert.deepEqual([toHex(asked[1].challenge), asked[1].allowCredentials.length], [`0x${"05".repeat(32)}`, 1]);
});

test("where the browser has no passkey of the site, the page says where to put the file", async () => {
  assert.equal(await told("SecurityError"), "passkey.elsewhere example.org");
  assert.equal(await told("NotAllowedError"), "passkey.none example.org");
  assert.equal(await told("NotAllowedError", "file:"), "passkey.elsewhere example.org");
});

/** What the page says if the browser throws an error of this name. @param {string} name @param {string} [protocol] */
async function told(name, protocol = "https:") {
  const get = () => Promise.reject(new DOMException("", name));
  const page = /** @type {any} */ ({
    text: (/** @type {string} */ key, /** @type {any} */ { site }) => `${key} ${site}`,
  });
  return inBrowser(get, protocol, () => passkeyOf(page, "example.org").then(String, (error) => error.message));
}

/**
 * @template T
 * @param {Function} get of the browser's credentials
 * @param {string} protocol of the page
 * @param {() => Promise<T>} work
 */
async function inBrowser(get, protocol, work) {
  const stubs = /** @type {[string, unknown][]} */ ([
    ["location", { protocol }],
    ["PublicKeyCredential", class {}],
    ["navigator", { credentials: { get } }],
    ["document", { hasFocus: () => true }],
  ]);
  const before = stubs.map(([it]) => /** @type {const} */ ([it, Object.getOwnPropertyDescriptor(globalThis, it)]));
  for (const [it, value] of stubs) Object.defineProperty(globalThis, it, { value, configurable: true });
  try {
    return await work();
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
