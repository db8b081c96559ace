/** What a service says about contracts and other chains; vectors/flows has what it says of payees, nonces and fees. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import "./dom.js";
import "./scenarios/clients.js"; // keeps the vaults' stores in memory
import { instantiate } from "../src/enclave-host.ts";
import { Client } from "../src/client.ts";
import { paymentCall } from "../src/chain/calls.ts";
import { SmartAccount } from "../src/flows/account.ts";
import { pay } from "../src/flows/pay.ts";
import { checkElsewhere } from "../src/flows/payee.ts";
import { RpcError } from "../src/http/json_rpc.ts";
import { resolved } from "../src/pages/send/payee.ts";
import { Vault } from "../src/vault/vault.ts";

const ROOT = new URL("../../", import.meta.url);
const readJson = async (name) => JSON.parse(await readFile(new URL(`vectors/${name}`, ROOT), "utf8"));
const enclave = await instantiate(await readFile(new URL("src/holdfast/enclave/enclave.wasm", ROOT)));
const { factory, vectors } = await readJson("accounts/addresses.json");
const CONTRACTS = { chainId: 84532, entryPoint: "0x0000000071727De22E5E9d8BAf0edAc6f37da032", appFactory: factory };
const [KEY] = vectors;
const OTHER = vectors.find(({ pubKeyX }) => pubKeyX !== KEY.pubKeyX);
const THIEF = `0x${"bb".repeat(20)}`;
const word = (number) => BigInt(number).toString(16).padStart(64, "0");
const hashOf = (data) => enclave.call("keccak256", { data: [...data] }).hash;
const DID = `did:new:${hashOf(Buffer.from(word(KEY.pubKeyX) + word(KEY.pubKeyY), "hex"))}`;

/** A service that says what the test wants, and a vault of KEY. */
const liar = (more, dbName = "told by others") => ({
  vault: {
    dbName,
    keccak256: async (data) => hashOf(data),
    deriveAddress: async (chain, options) => enclave.call("derive_address", { chain, ...options }),
    query: async () => ({ did: DID }),
    exec: async () => ({ result: [{ curve: "P-256", public_key: `04${word(KEY.pubKeyX)}${word(KEY.pubKeyY)}` }] }),
  },
  gas: { rpcUrl: "https://rpc.example" },
  baseUrl: "https://service.example",
  foreignContracts: false,
  contracts: async () => CONTRACTS,
  status: async () => ({ rpc: "" }),
  ...more,
});

test("the main chain's endpoint is not asked about another chain, of which the service names none", async () => {
  const client = liar({ status: async () => ({ rpc: "https://main.example" }) });
  const elsewhere = { chainId: 8453, rpc: null };
  const account = new SmartAccount(client, { contracts: CONTRACTS, key: { address: THIEF }, elsewhere });
  assert.equal(await account.endpoint(), "");
  await assert.rejects(account.knownEndpoint(), /no endpoint of the chain is known/);
});

test("the own address is computed, and another factory refused", async () => {
  const opened = (more) => SmartAccount.open(liar(more)).then(({ address }) => address);
  const contracts = async () => ({ ...CONTRACTS, appFactory: THIEF });
  assert.equal(await opened({}), KEY.address);
  await assert.rejects(opened({ contracts }), { name: "ForeignContracts" });
  const key = { public_key: `04${word(KEY.pubKeyX)}${word(KEY.pubKeyY)}`, salt: "0x0" };
  const { address } = enclave.call("derive_address", { chain: "ethereum", ...key, factory: THIEF });
  assert.notEqual(address, KEY.address);
  assert.equal(await opened({ contracts, foreignContracts: true }), address);
});

test("only on its own pages may the service name other contracts, because it also serves this code there", () => {
  const allowed = () => new Client({ baseUrl: "https://own.example", vault: liar({}).vault }).foreignContracts;
  const { location } = globalThis;
  globalThis.location = new URL("https://own.example/vault");
  try {
    assert.equal(allowed(), true);
    globalThis.location = new URL("https://app.example/");
    assert.equal(allowed(), false);
  } finally {
    globalThis.location = location;
  }
});

const ALIAS = { found: true, active: true, did_hash: hashOf(Buffer.from(DID)) };
for (const [what, alias, trust] of [
  ["confirms it", ALIAS, "verified"],
  ["has deactivated it", { ...ALIAS, active: false }, "name"],
  ["gives it to another DID", { ...ALIAS, did_hash: hashOf(Buffer.from("did:new:0x")) }, "name"],
  ["does not know it", { found: false }, "name"],
  ["does not answer", null, "name"],
])
  test(`a name that the service resolves, while the chain ${what}`, async (context) => {
    const { vault, contracts } = liar({});
    const state = {
      nonce: "1",
      did: hashOf(Buffer.from(DID)),
      isActive: true,
      pubKeyX: KEY.pubKeyX,
      pubKeyY: KEY.pubKeyY,
    };
    const answers = {
      boot: async () => ({}),
      contracts,
      checkAlias: async () => ({ available: false, did: DID }),
      indexerDid: async () => ({ found: true, active: true, controller: KEY.address }),
      accountState: async () => state,
      indexerAlias: async () => alias ?? Promise.reject(new RpcError({ message: "gone" })),
    };
    for (const [name, answer] of Object.entries(answers)) context.mock.method(Client.prototype, name, answer);
    for (const name of ["keccak256", "deriveAddress"]) context.mock.method(Vault.prototype, name, vault[name]);
    assert.deepEqual(await resolved("ada"), { address: KEY.address, did: DID, name: "ada", trust });
  });

const NOTHING = { pubKeyX: "0x0", pubKeyY: "0x0" };
for (const [name, isPaid, here, there] of [
  ["the same key", true, KEY, KEY],
  ["its first key, as it is not there yet", true, KEY, NOTHING],
  ["another point with the same x", false, KEY, { ...KEY, pubKeyY: OTHER.pubKeyY }],
  ["another key, as it was replaced on the main chain alone", false, OTHER, KEY],
  ["its first key, which was replaced on the main chain", false, OTHER, NOTHING],
])
  test(`on another chain an account obeys ${name}`, async () => {
    const hex = ({ pubKeyX, pubKeyY }) => ({ pubKeyX: `0x${word(pubKeyX)}`, pubKeyY: `0x${word(pubKeyY)}` });
    const told = liar({ accountState: async () => hex(here), accountStateOn: async () => hex(there) });
    const asked = checkElsewhere(told, { address: KEY.address, did: DID }, 8453);
    await (isPaid ? asked : assert.rejects(asked, { name: "PaymentRefused", code: "payee_unverified" }));
    await checkElsewhere(told, { address: KEY.address, did: null }, 8453);
  });

for (const [name, other] of [
  ["the payment that was asked for", {}],
  ["another amount", { amount: 6n }],
  ["another payee", { to: OTHER.address }],
  ["another token", { token: THIEF }],
])
  test(`an operation whose bytes are ${name} is signed only if that was asked for`, async (context) => {
    const asked = { to: KEY.address, amount: 5n, token: "native" };
    const signed = [];
    const account = {
      on: async () => account,
      prepared: async () => ({ callData: paymentCall({ ...asked, ...other }) }),
      signed: async (operation) => (signed.push(operation), { operation, hash: "0x1" }),
      send: async () => {},
      wait: async () => {},
    };
    context.mock.method(SmartAccount, "ofClient", async () => account);
    const paid = pay(liar({}), { ...asked, amount: "5", chainId: 84532 }, {});
    const isAsked = Object.keys(other).length === 0;
    await (isAsked ? paid : assert.rejects(paid, { message: /nothing was signed/ }));
    assert.equal(signed.length, isAsked ? 1 : 0);
  });

test("what a bundler says is short, and moves nothing on the screen", () => {
  assert.equal(new RpcError({ message: "AA23\u001b[2J\u202e" }).message, "Network: AA23\ufffd[2J\ufffd");
  assert.equal(new RpcError({ message: "no".repeat(999) }).message, `Network: ${"no".repeat(250)}`);
});
