/** What others say about addresses, nonces and what was mined, and what the client makes of it when they lie. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import "./dom.js";
import "./scenarios/clients.js"; // keeps the vaults' stores in memory
import { instantiate } from "../src/enclave-host.js";
import { Client } from "../src/client.js";
import { SmartAccount } from "../src/flows/account.js";
import { checkElsewhere, payeeOf } from "../src/flows/payee.js";
import { STATE_AGE_MS } from "../src/generated/operation_retries.js";
import { RpcError } from "../src/http/service.js";
import { resolved } from "../src/pages/send/payee.js";
import { Vault } from "../src/vault/vault.js";

const ROOT = new URL("../../", import.meta.url);
const readJson = async (name) => JSON.parse(await readFile(new URL(`vectors/${name}`, ROOT), "utf8"));
const enclave = await instantiate(await readFile(new URL("src/holdfast/enclave/enclave.wasm", ROOT)));
const { factory, vectors } = await readJson("accounts/addresses.json");
const CONTRACTS = { chainId: 84532, entryPoint: "0x0000000071727De22E5E9d8BAf0edAc6f37da032", appFactory: factory };
const [KEY, SALTED] = vectors;
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

/** Lets the time pass at once for which the service keeps an account's state. */
function withoutWaiting(context) {
  const { setTimeout } = globalThis;
  const soon = (work, ms, ...given) => setTimeout(work, ms === STATE_AGE_MS ? 0 : ms, ...given);
  context.mock.method(globalThis, "setTimeout", soon);
}

/** Answers the chain's endpoint while `work` runs. */
async function withChain(answer, work) {
  const { fetch } = globalThis;
  globalThis.fetch = async (_, { body }) => {
    const { id, method } = JSON.parse(body);
    return Response.json({ jsonrpc: "2.0", id, result: answer(method) });
  };
  return work().finally(() => (globalThis.fetch = fetch));
}

/** Returns the payee's address if the indexer, the chain's state and the factory's event say this. */
const payee = (address, { pubKeyX, pubKeyY }, salt = null) => {
  const data = salt === null ? null : `0x${[KEY.pubKeyX, KEY.pubKeyY, salt].map(word).join("")}`;
  const told = liar({
    indexerDid: async () => ({ found: true, active: true, controller: address }),
    accountState: async () => ({ nonce: "1", did: hashOf(Buffer.from(DID)), isActive: true, pubKeyX, pubKeyY }),
    indexerAccount: async () => ({ found: true, block_number: "5" }),
  });
  return withChain(
    () => (data ? [{ data }] : []),
    () => payeeOf(told, DID),
  );
};

for (const [name, ...told] of [
  ["of a stranger, with the DID's key", THIEF, KEY],
  ["of a stranger, with the stranger's key", THIEF, OTHER],
  ["of a stranger, with the factory's event", THIEF, KEY, 0],
  ["of another salt, which no event names", SALTED.address, KEY],
  ["of the DID, with another key, which no event explains", KEY.address, OTHER],
])
  test(`an address that does not follow from the key is not paid: ${name}`, () =>
    assert.rejects(payee(...told), { name: "PaymentRefused", code: "payee_unverified" }));

for (const [name, ...told] of [
  ["of the key", KEY.address, KEY],
  ["of another salt, which the event names", SALTED.address, KEY, SALTED.salt],
  ["of the first key, after a change of keys", KEY.address, OTHER, 0],
])
  test(`an address that follows from the key is paid: ${name}`, async () =>
    assert.deepEqual(await payee(...told), { address: told[0], did: DID }));

test("the own address is computed, and another factory refused", async () => {
  const opened = (more) => SmartAccount.open(liar(more)).then(({ address }) => address);
  const contracts = async () => ({ ...CONTRACTS, appFactory: THIEF });
  assert.equal(await opened({}), KEY.address);
  await assert.rejects(opened({ contracts }), { name: "OperationFailed", message: /not the one of this release/ });
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

test("a state from before the payee's registration is read again", async (context) => {
  withoutWaiting(context);
  const current = { nonce: "1", did: hashOf(Buffer.from(DID)), isActive: true, ...KEY };
  const states = [{ nonce: "0", did: "0x", isActive: false, pubKeyX: "0x0", pubKeyY: "0x0" }, current];
  const told = liar({
    indexerDid: async () => ({ found: true, active: true, controller: KEY.address }),
    accountState: async () => states.shift(),
  });
  assert.equal((await payeeOf(told, DID)).address, KEY.address);
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

/** An account whose service tells `nonce`, and whose bundler refuses every operation after it has been signed. */
class Steps {
  #sent = [];
  #mined = {};
  #nonce = "1";
  #strict = false;

  constructor(number) {
    const facts = { contracts: CONTRACTS, key: { x: 1n, y: 2n, address: `0x${String(number).padStart(40, "0")}` } };
    const client = liar({ accountState: async () => this.#state(), bundler: (...asked) => this.#bundler(...asked) });
    this.account = () => new SmartAccount(client, {}, facts);
  }

  #state() {
    return { nonce: this.#nonce, did: "0x", isActive: true, pubKeyX: "0x1", pubKeyY: "0x2" };
  }

  async #bundler(method, [first]) {
    if (method === "pm_sponsorUserOperation") {
      const isStale = this.#strict && BigInt(first.nonce) !== BigInt(this.#nonce);
      if (isStale) throw new RpcError({ message: "AA25 invalid account nonce" });
      return { paymaster: `0x${"05".repeat(20)}` };
    }
    if (method === "eth_sendUserOperation") throw new RpcError({ message: "reverted during simulation" });
    const receipt = { transactionHash: "0x2", blockNumber: "0x3" };
    return first in this.#mined ? { userOpHash: first, success: this.#mined[first], receipt } : null;
  }

  /** Plays one step: the nonce that the state has, the call, and what is mined before it; returns the nonce. */
  async play(kept, { call, told, strict, mine, wait }) {
    this.#nonce = told ?? this.#nonce;
    this.#strict = strict ?? this.#strict;
    if (mine !== undefined) this.#mined[this.#sent.at(-1)] = mine;
    const operation = await kept.prepared(call);
    const hash = `0x${String(this.#sent.length).padStart(64, "0")}`;
    this.#sent.push(hash);
    await kept.send({ operation, hash }).catch(() => {});
    if (wait) await kept.wait(hash, 10).catch(() => {});
    return Number(operation.nonce);
  }
}

const [RENT, LUNCH] = ["0xaa", "0xbb"];
const KNOWN = /another key than 0|same call|may have been mined/;
for (const [number, [name, steps, expected]] of [
  ["another key", [{ told: String(2n ** 64n), call: RENT }], ["another key than 0"]],
  ["the same nonce again", [{ call: RENT }, { call: RENT }, { call: LUNCH, again: true }], [1, 1, 1]],
  [
    "moved on without a receipt",
    [{ call: RENT }, { told: "2", call: LUNCH }, { call: LUNCH }],
    [1, "may have been mined", 2],
  ],
  [
    "a late receipt",
    [{ call: RENT }, { mine: true, call: RENT, again: true }, { told: "2", call: RENT }],
    [1, "same call", 2],
  ],
  ["another call", [{ call: RENT }, { mine: true, call: LUNCH }], [1, 2]],
  ["a revert", [{ call: RENT }, { mine: false, call: RENT }], [1, 2]],
  [
    "not taken by the chain",
    [{ call: RENT }, { told: "0", strict: true, call: LUNCH }, { call: LUNCH }],
    [1, "may have been mined", 0],
  ],
  ["no receipt in time", [{ call: RENT, wait: true }, { call: RENT }], [1, 1]],
].entries())
  test(`two signed operations cannot both be mined silently: ${name}`, async (context) => {
    withoutWaiting(context);
    const played = new Steps(number);
    let kept = played.account();
    const results = [];
    for (const step of steps) {
      if (step.again) kept = played.account();
      results.push(await played.play(kept, step).catch(({ message }) => message.match(KNOWN)?.[0] ?? message));
    }
    assert.deepEqual(results, expected);
  });

/** What the sponsor and the chain offer, and an operation of a new account object on the same account. */
async function offered(sponsored, number) {
  const prices = { maxFeePerGas: 800n, maxPriorityFeePerGas: 10n };
  const limits = { callGasLimit: "0x1", verificationGasLimit: "0x1", preVerificationGas: "0x1" };
  const client = liar({
    accountState: async () => ({ nonce: "1", did: "0x", isActive: true, pubKeyX: "0x1", pubKeyY: "0x2" }),
    bundler: async (method, [first]) => {
      if (method === "eth_getUserOperationReceipt") return null;
      if (method !== "pm_sponsorUserOperation") return limits;
      const chosen = ([name, price]) => [name, `0x${(BigInt(first[name]) || price).toString(16)}`];
      return {
        ...limits,
        paymaster: `0x${"05".repeat(20)}`,
        ...Object.fromEntries(Object.entries(prices).map(chosen)),
      };
    },
  });
  const policy = { sponsored, ...(!sponsored && { rpcUrl: "https://rpc.example" }) };
  const key = { x: 1n, y: 2n, address: `0x${"7".repeat(40)}` };
  const account = new SmartAccount(client, policy, { contracts: CONTRACTS, key });
  const operation = await account.prepared("0x");
  await account.send({ operation, hash: `0x${String(number).padStart(64, "0")}` }).catch(() => {});
  return [operation.nonce, operation.maxFeePerGas, operation.maxPriorityFeePerGas].map(Number);
}

test("what replaces an open operation offers an eighth more", async () => {
  const answers = {
    eth_chainId: "0x14a34",
    eth_getBlockByNumber: { baseFeePerGas: "0x1" },
    eth_maxPriorityFeePerGas: "0x1",
    eth_getBalance: `0x${(10n ** 18n).toString(16)}`,
    eth_call: `0x${"00".repeat(32)}`,
  };
  const all = async () => [await offered(true, 0), await offered(false, 1), await offered(true, 2)];
  const each = await withChain((method) => answers[method], all);
  assert.deepEqual(each, [
    [1, 800, 10],
    [1, 900, 12],
    [1, 1013, 14],
  ]);
});
