/** Calls that change a DID, and the registry's answers about it, are those of the shared vectors. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { toHex } from "../src/bytes.ts";
import { AccountDid } from "../src/account/did.ts";
import * as calls from "../src/chain/did_calls.ts";
import { keccak256 } from "../src/did/keccak.ts";
import { NetworkError } from "../src/errors.ts";
import { SmartAccount } from "../src/flows/account.ts";
import { vectors } from "./vector_files.js";

const { registry, did, calls: CALLS, reads: READS } = vectors("accounts/did_calls.json");
const hash = (text) => toHex(keccak256(new TextEncoder().encode(text)));
const [DID, alias] = [hash(did), hash("ada")];
const made = {
  set_did_active: ({ active }) => calls.setDidActive(registry, DID, active),
  set_metadata: ({ cid }) => calls.setMetadata(registry, DID, cid),
  change_controller: ({ account }) => calls.changeController(registry, DID, account),
  accept_controller: () => calls.acceptController(registry, DID),
  set_alias_active: ({ active }) => calls.setAliasActive(registry, alias, active),
  register_alias: ({ secret }) => calls.registerAlias(registry, alias, DID, secret),
  commit: ({ account: controller, secret }) => {
    const claim = calls.commitmentBytes({ did: DID, alias, controller, secret });
    return calls.commit(registry, toHex(keccak256(Buffer.from(claim.slice(2), "hex"))));
  },
};
const read = {
  did: (answer) => Object.values(calls.readDid(answer)),
  proposed: calls.readProposed,
  alias: (answer) => Object.values(calls.readAlias(answer)),
};
/** The client adds the checksum of addresses. */
const plain = (value) =>
  JSON.parse(JSON.stringify(value), (_, it) => (typeof it === "string" && it.startsWith("0x") ? it.toLowerCase() : it));

for (const row of CALLS) test(row.name, () => assert.deepEqual(made[row.call](row), { to: registry, data: row.data }));

for (const row of READS)
  test(row.name, () => {
    if (!("result" in row)) assert.throws(() => read[row.read](row.answer), NetworkError);
    else assert.deepEqual(read[row.read](row.answer), plain(row.result));
  });

const POINT = "12".repeat(64);
const OWNER = toHex(keccak256(Uint8Array.from(Buffer.from(POINT, "hex"))));
const vault = {
  query: async () => ({ did: `did:new:${OWNER}` }),
  exec: async () => ({ result: [{ curve: "P-256", public_key: `04${POINT}` }] }),
  deriveAddress: async () => ({ address: `0x${"a1".repeat(20)}` }),
  keccak256: async (data) => toHex(keccak256(data)),
};
const client = {
  vault,
  accountAddress: null,
  gas: { rpcUrl: "https://chain.example" },
  contracts: async () => ({ appFactory: registry, didRegistry: registry, entryPoint: registry, chainId: 1 }),
  checkAlias: async () => ({}),
};

test("an alias that is taken on the chain costs no commitment", async (it) => {
  const operations = [];
  const aliases = new AccountDid(client, async (work) => operations.push(work));
  let holder = DID.slice(2);
  it.mock.method(globalThis, "fetch", async (url, { body }) => {
    const { method, params } = JSON.parse(body);
    assert.deepEqual([url, method, params[0].to], [client.gas.rpcUrl, "eth_call", registry]);
    return Response.json({ jsonrpc: "2.0", id: 1, result: `0x${holder}${"0".repeat(128)}` });
  });
  await assert.rejects(aliases.registerAlias("Ada"), { message: /the alias ada is taken/, reason: "AliasTaken" });
  assert.equal(operations.length, 0);
  holder = "0".repeat(64);
  await aliases.registerAlias("Ada");
  assert.equal(operations.length, 1);
});

for (const [rpc, why] of [
  ["http://127.0.0.1:8545", "the service names http://127.0.0.1:8545, which this page may not call"],
  ["http://a\u202eb\u0007\n", "the service names http://a\ufffdb\ufffd\ufffd, which this page may not call"],
  [null, "no endpoint of the chain is known"],
])
  test(`the person is told which endpoint may not be called: ${rpc}`, async () => {
    const named = { ...client, gas: {}, baseUrl: "https://vault.example", status: async () => ({ rpc }) };
    named.chains = async () => ({ chains: [{ chainId: 2, rpc, payments: true }] });
    const message = `Network: ${why}: name one (gas.rpcUrl)`;
    await assert.rejects(new AccountDid(named, async () => {}).registeredAlias("ada"), { message });
    const elsewhere = await (await SmartAccount.open(named, {})).on(2);
    const more = {
      message: `Network: ${why}: the service must name one that can be called, because yours is for its main chain`,
    };
    await assert.rejects(elsewhere.knownEndpoint(), more);
  });
