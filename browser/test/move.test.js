/** Moving to another service, with services that lie and a page that is closed at each step. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { move, moveCheck } from "../src/flows/move.js";
import { checkTarget, serviceAddress } from "../src/flows/move_target.js";
import { VaultStore } from "../src/vault/store.js";
import { MemoryStore } from "./scenarios/memory_store.js";

const DID = "did:new:0x01";
const OLD = "https://old.example";
const NEW = "https://new.example";
const CONTRACTS = { chainId: 8453, appFactory: "0xAA", didRegistry: "0xBB" };
let store = new MemoryStore();
for (const name of ["note", "setNote", "close"])
  VaultStore.prototype[name] = function (...given) {
    return store[name](...given);
  };

class Stopped extends Error {}

/** A vault, two services, and the order of what happened to them. */
class World {
  done = [];
  stopAt = Infinity;
  lies = {};
  credentials = [{ credential_id: "former" }];
  wraps = [{ kind: "prf", id: "former" }];
  old = { former: "ada" };
  new = {};
  made = 0;

  constructor() {
    store = new MemoryStore();
  }

  /** Does something, unless the page is closed before it. */
  did(what, then = () => {}) {
    if (this.done.length === this.stopAt) throw new Stopped(what);
    this.done.push(what);
    return then();
  }

  get vault() {
    const verified = (id) => this.lies.verdict ?? { valid: true, credential_id: id };
    const actions = {
      create: ({ credential_id }) => void this.credentials.push({ credential_id }),
      delete: ({ credential_id: id }) =>
        void (this.credentials = this.credentials.filter((it) => it.credential_id !== id)),
      verify: ({ assertion }) => verified(assertion),
    };
    return {
      query: async () => ({ did: DID, credentials: this.credentials }),
      keys: async () => ({ wraps: this.wraps }),
      addKey: async ({ id }) => this.did("vault: key", () => this.wraps.push({ kind: "prf", id })),
      removeKey: async (_, id) => void (this.wraps = this.wraps.filter((it) => it.id !== id)),
      parse: async () => ({ parsed: { aaguid: "", transports: [], cose_key: "" } }),
      publishingKey: async () => ({ public_key: "0x01" }),
      invoke: async ({ audience, args }) => ({ container: JSON.stringify({ audience, ...args }) }),
      exec: async (filter, args) => ({ success: true, result: actions[filter.split("action:")[1]](args) }),
    };
  }

  service(baseUrl, rows) {
    const host = new URL(baseUrl).hostname.split(".")[0];
    const lie = (name, truth) => (host === "new" && name in this.lies ? this.lies[name] : truth);
    const remove = ({ credentialId, identifier }) => {
      for (const [id, name] of Object.entries(rows)) if (id === credentialId || name === identifier) delete rows[id];
      return { identifiers: 0, credentials: 0, snapshots: 0, pins: 0 };
    };
    const found = (id) => ({ found: true, did: DID, identifier: rows[id], channel: "handle", txHash: "0x02" });
    return {
      baseUrl,
      vault: this.vault,
      ownDid: async () => lie("ownDid", `did:web:${host}.example`),
      contracts: async () => lie("contracts", CONTRACTS),
      lookupDid: async ({ credentialId: id }) => lie("lookup", rows[id] ? found(id) : { found: false }),
      checkSession: async () => ({ available: lie("available", Object.keys(rows).length === 0), reason: "taken" }),
      checkAlias: async () => ({ did: Object.keys(rows).length > 0 ? DID : null }),
      register: async ({ passkey, handle, known }) => {
        assert.equal(known.txHash, "0x02");
        this.did(`${host}: register`, () => (rows[passkey] = handle));
      },
      snapshots: async () => ({
        copyTo: async () => this.did(`${host}: copy`, () => "root"),
        continueHere: async () => this.did("continue"),
      }),
      _call: async ({ path }, _, { authorization }) => {
        if (path === "/api/person") return { identifiers: [] };
        const token = JSON.parse(authorization.slice("Bearer ".length));
        assert.equal(token.audience, `did:web:${host}.example`);
        return this.did(`${host}: remove ${token.identifier ?? token.credentialId}`, () => remove(token));
      },
    };
  }

  move() {
    const make = async () => {
      const credentialId = `passkey ${++this.made}`;
      return this.did("passkey", () => ({
        credential: "",
        credentialId,
        assertion: credentialId,
        secret: new Uint8Array(32),
      }));
    };
    const passkeys = { origin: NEW, rpId: "new.example", make };
    return move(this.service(OLD, this.old), this.service(NEW, this.new), passkeys);
  }
}

const ORDER = [
  "passkey",
  "vault: key",
  "new: register",
  "new: copy",
  "old: remove ada",
  "old: remove former",
  "continue",
];

test("the old service loses the name last", async () => {
  const world = new World();
  const moved = await world.move();
  assert.deepEqual(world.done, ORDER);
  assert.deepEqual(moved, {
    did: DID,
    identifier: "ada",
    channel: "handle",
    credentialId: "passkey 1",
    rootCid: "root",
    leftBehind: [],
  });
  assert.deepEqual([world.old, world.new, store.notes.size], [{}, { "passkey 1": "ada" }, 0]);
});

test("wherever the page is closed, a service has the person, and the next attempt finishes", async () => {
  for (let at = 0; at < ORDER.length; at += 1) {
    const world = new World();
    world.stopAt = at;
    await assert.rejects(world.move(), Stopped);
    assert.ok(world.old.former === "ada" || Object.values(world.new).includes("ada"), ORDER[at]);
    world.stopAt = Infinity;
    const shown = await moveCheck(world.service(OLD, world.old), world.service(NEW, world.new));
    assert.equal(shown.identifier, "ada");
    const { credentialId } = await world.move();
    assert.deepEqual([world.old, world.new], [{}, { [credentialId]: "ada" }], ORDER[at]);
    assert.deepEqual(
      world.wraps.map(({ id }) => id),
      ["former", credentialId],
      ORDER[at],
    );
    assert.equal(world.credentials.length, 2, ORDER[at]);
  }
});

test("a target that is gone does not bind the person", async () => {
  const world = new World();
  world.stopAt = ORDER.indexOf("new: copy");
  await assert.rejects(world.move(), Stopped);
  await store.setNote(`moving:${DID}`, { ...(await store.note(`moving:${DID}`)), to: "https://gone.example" });
  world.stopAt = Infinity;
  world.new = {};
  const { credentialId } = await world.move();
  assert.deepEqual([world.old, world.new], [{}, { [credentialId]: "ada" }]);
  assert.equal(world.credentials.length, 2);
});

for (const [code, lies, before] of [
  ["other_service", { ownDid: "did:web:elsewhere.example" }, 0],
  ["other_chain", { contracts: { ...CONTRACTS, chainId: 1 } }, 0],
  ["other_contracts", { contracts: { ...CONTRACTS, didRegistry: "0xCC" } }, 0],
  ["no_proof", { verdict: { valid: false, reason: "origin" } }, 1],
  ["no_proof", { verdict: { valid: true, credential_id: "former" } }, 1],
  ["other_registration", { lookup: { found: true, did: "did:new:0x02", identifier: "ada", channel: "handle" } }, 4],
  ["other_registration", { available: true }, 4],
])
  test(`${code}: ${JSON.stringify(lies)} costs the person nothing`, async () => {
    const world = new World();
    world.lies = lies;
    await assert.rejects(world.move(), { code });
    assert.deepEqual(world.done, ORDER.slice(0, before));
    assert.deepEqual(world.old, { former: "ada" });
  });

test("a name of another person, and the service itself, are refused", async () => {
  const world = new World();
  world.new.another = "ada";
  const taken = world.service(NEW, world.new);
  taken.checkAlias = async () => ({ did: "did:new:0x02" });
  await assert.rejects(move(world.service(OLD, world.old), taken, {}), { code: "name_taken" });
  await assert.rejects(checkTarget(taken, taken), { code: "same_service" });
});

test("an address is one origin in ASCII, with https", () => {
  assert.equal(serviceAddress(" New.example/ "), "https://new.example");
  assert.equal(serviceAddress("https://new.example:8443"), "https://new.example:8443");
  assert.equal(serviceAddress("http://new.localhost:8787"), "http://new.localhost:8787");
  for (const wrong of [
    "http://new.example",
    "ftp://new.example",
    "https://",
    "https://new.example@evil.example",
    "https://new.example/path",
    "https://new.example?x",
    "https://n\u0435w.example",
    "javascript:alert(1)",
  ])
    assert.equal(serviceAddress(wrong), "", wrong);
});
