/** Changes of an account are signed in one form, also if an application writes them in upper case or another order. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { ServiceAlone } from "../src/account/guardians.ts";
import { applyChanges, createAccountWith } from "../src/account/changes.ts";
import { AccountKeys } from "../src/account/keys.ts";
import { toHex } from "../src/bytes.ts";
import { execute } from "../src/chain/calls.ts";
import { named, signaturesIn } from "../src/chain/owners.ts";
import { didOfKey } from "../src/chain/names.ts";
import { keccak256 } from "../src/did/keccak.ts";
import { SmartAccount } from "../src/flows/account.ts";

const ACCOUNT = `0x${"a1".repeat(20)}`;
const LOST = "0xb2b2b2b2b2B2b2B2B2b2b2B2B2b2B2B2b2b2b2b2"; // another key's
const [POINT, OTHER, SERVICE] = ["ab", "cd", "ef"].map((byte) => byte.repeat(64));
const SIGNATURE = `0x${"55".repeat(64)}`;
const upper = (digits) => `0x${digits.toUpperCase()}`;
const hash = async (data) => toHex(keccak256(data));

/**
 * The keys of an account, and what the vault was asked to sign.
 *
 * @param present the place of the account's next change; null: it does not exist yet
 */
async function keysOf(context, { guardians = [], address = null, present = null } = {}) {
  const asked = [];
  const did = await didOfKey({ keccak256: hash }, POINT.slice(0, 64), POINT.slice(64));
  context.mock.method(globalThis, "fetch", async (_url, { body }) => {
    const { id, method } = JSON.parse(body);
    const code = present === null ? "0x" : "0x01";
    const settings = `0x${[present ?? 0, 0, 1, 1, 0, 0, 0, 0].map((it) => it.toString(16).padStart(64, "0")).join("")}`;
    return Response.json({ jsonrpc: "2.0", id, result: method === "eth_getCode" ? code : settings });
  });
  const vault = {
    query: async () => ({ did }),
    exec: async () => ({ result: [{ curve: "P-256", public_key: `04${POINT}` }] }),
    deriveAddress: async (_, { public_key }) => ({ address: public_key === `04${POINT}` ? ACCOUNT : LOST }),
    keccak256: hash,
    signAccountMessage: async (message) => {
      asked.push(message);
      return { signer: `0x${POINT}`, signature: SIGNATURE, digest: `0x${"00".repeat(32)}` };
    },
  };
  const contracts = { chainId: 1, entryPoint: ACCOUNT, appFactory: ACCOUNT, didRegistry: ACCOUNT };
  const client = {
    vault,
    accountAddress: address,
    secondKey: null,
    gas: { rpcUrl: "https://chain.example" },
    contracts: async () => contracts,
    recoveryTerms: async () => ({ guardians }),
  };
  return { keys: new AccountKeys(client, (work) => work()), asked };
}

test("the primary key is replaced, also if its removal is written in upper case", async (context) => {
  const { keys, asked } = await keysOf(context);
  await keys.sign([
    { kind: "add_owner", signer: upper(OTHER) },
    { kind: "remove_owner", signer: upper(POINT) },
  ]);
  const changes = [
    { kind: "add_owner", signer: `0x${OTHER}` },
    { kind: "remove_owner", signer: `0x${POINT}` },
    { kind: "set_primary", signer: `0x${OTHER}` },
  ];
  assert.deepEqual(asked, [{ account: ACCOUNT, message: "changes", sequence: 0, changes }]);
  const mistyped = "0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
  await assert.rejects(keys.sign([{ kind: "add_guardian", signer: mistyped }]), /typing error/);
  await assert.rejects(keys.signRecovery([mistyped]), /typing error/);
});

test("another owner's signature of the same changes is joined, in whatever order they are written", async (context) => {
  const { keys } = await keysOf(context);
  const other = { keyId: "0x01", signer: `0x${OTHER}`, signature: SIGNATURE };
  const cosigned = {
    signature: named([other]),
    changes: [{ value: 2, kind: "set_threshold" }],
    sequence: 0,
    account: upper(ACCOUNT.slice(2)),
  };
  const { signature } = await keys.sign([{ kind: "set_threshold", value: 2 }], { cosigned });
  assert.deepEqual(new Set(signaturesIn(signature).map(({ signer }) => signer)), new Set([other.signer, `0x${POINT}`]));
  const others = [
    { ...cosigned, sequence: 1 },
    { ...cosigned, changes: [{ kind: "set_threshold", value: 1 }] },
  ];
  for (const it of others)
    await assert.rejects(keys.sign([{ kind: "set_threshold", value: 2 }], { cosigned: it }), /different changes/);
});

test("a service that writes its key in upper case, or denies it later, gets no account without consent", async (context) => {
  const guardians = [upper(SERVICE)];
  const { keys } = await keysOf(context, { guardians });
  const changes = [
    { kind: "add_guardian", signer: `0x${SERVICE}` },
    { kind: "set_quorum", value: 1 },
  ];
  await assert.rejects(keys.sign(changes), ServiceAlone);
  guardians.pop();
  await assert.rejects(keys.sign(changes), ServiceAlone);
  await keys.sign(changes, { serviceAlone: true });
});

const ORIGIN = { x: BigInt(`0x${OTHER.slice(0, 64)}`), y: BigInt(`0x${OTHER.slice(64)}`) };
for (const [what, { places, made, ...of }] of Object.entries({
  "create another key's account": { address: LOST, places: [0, 1], made: "at once" },
  "follow those that the chain has": { address: LOST, present: 1, places: [2, 0, 1], made: [1, 2] },
  "are made one by one by the own account": { places: [0, 1], made: [0, 1] },
  "wait for those before them": { address: LOST, present: 1, places: [2], made: /before 2: bring them first/ },
  "create no account whose first key is not given": {
    address: LOST,
    origin: null,
    places: [0],
    made: /does not exist/,
  },
}))
  test(`signed changes that are brought ${what}`, async (context) => {
    const { origin = ORIGIN, address } = of;
    const { keys } = await keysOf(context, of);
    const calls = [];
    const methods = {
      prepared: async (data) => void calls.push(data),
      signed: async () => ({ hash: "0x01" }),
      send: async () => {},
      wait: async () => ({}),
    };
    for (const [name, method] of Object.entries(methods)) context.mock.method(SmartAccount.prototype, name, method);
    const change = (sequence) => ({ account: address ?? ACCOUNT, sequence, changes: [], signature: SIGNATURE });
    const brought = keys.bring(places.map(change), { origin: origin ?? undefined });
    if (made instanceof RegExp) return assert.rejects(brought, made);
    await brought;
    const created = () => [createAccountWith(ACCOUNT, ORIGIN, places.map(change))];
    const expected = made === "at once" ? created() : made.map(change).map(applyChanges);
    assert.deepEqual(calls, expected.map(execute));
  });

test("a recovery whose new owners the endpoint hides is not told to be none", async (context) => {
  const { keys } = await keysOf(context);
  for (const [recovery, why] of [
    [null, /no recovery/],
    [{ newOwners: null }, /is under way, but/],
  ]) {
    keys.recovery = async () => recovery;
    await assert.rejects(keys.finishRecovery(), why);
  }
});
