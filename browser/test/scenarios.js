/** Plays the scenarios of vectors/flows with the JavaScript client (vectors/README.md describes their form). */

import { ServiceClient } from "../src/http/service.js";
import { AutomaticSnapshots } from "../src/snapshots/automatic.js";
import { writeCar } from "../src/snapshots/cars.js";
import { blockOf } from "../src/snapshots/cids.js";
import { SnapshotConflict } from "../src/snapshots/errors.js";
import { Gateways } from "../src/snapshots/gateway.js";
import { NetworkError, RequestRefused } from "../src/snapshots/library.js";
import { Publisher } from "../src/snapshots/publisher.js";
import { Recovery } from "../src/snapshots/recovery.js";
import { snapshotOf } from "../src/snapshots/roots.js";
import { readState, writeState } from "../src/snapshots/state.js";

const DID = `did:new:0x${"11".repeat(32)}`;
const NAME = "k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8";
const UPDATED_AT = 1_700_000_000_000;

/** Returns the outcomes of the events of each scenario, by the scenario's name. */
export async function playAll(scenarios) {
  const played = {};
  for (const [name, scenario] of Object.entries(scenarios)) played[name] = await play(scenario);
  return played;
}

async function play(scenario) {
  const { flow, roots = {}, given, events, outcomes } = scenario;
  if (flow === "retries") return [await retries(outcomes)];
  if (flow === "request") return [await request(scenario)];
  if (flow === "name") return [await nameOf(scenario)];
  const player = new Player(roots);
  await player.give(given);
  const found = [];
  for (const event of events) found.push(await player.turn(event));
  return found;
}

/** Returns after which waiting times a sequence of failing attempts is repeated. */
async function retries(outcomes) {
  const left = [...outcomes];
  let uses = 0;
  const { setTimeout } = globalThis;
  const waits = [];
  const timers = [];
  globalThis.setTimeout = (work, ms) => (waits.push(ms / 1000), timers.push(work));
  try {
    const automatic = new AutomaticSnapshots(
      async () => {
        const outcome = left.shift();
        if (outcome === "lost upload") uses += 1;
        if (outcome) throw errorOf(outcome === "lost upload" ? "lost" : outcome);
      },
      2000,
      () => uses,
    );
    automatic.changed();
    while (timers.length) {
      timers.shift()();
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  return { waits_s: waits, attempts: outcomes.length - left.length };
}

const CALLS = {
  status: (client) => client.status(),
  "send code": (client) => client.sendCode({ identifier: "ann@example.com", channel: "email" }),
};

/** Returns how often a request is sent, after which waiting times, and how it ends. */
async function request({ call, answers }) {
  const [keys, waits, left] = [[], [], [...answers]];
  const fetch = async (_url, { headers = {} }) => {
    keys.push(headers["idempotency-key"] ?? null);
    const answer = left.shift();
    if (answer === "lost") throw new TypeError("lost");
    const after = "retry_after" in answer ? { "retry-after": String(answer.retry_after) } : {};
    return new Response(JSON.stringify("error" in answer ? { error: answer.error } : {}), {
      status: answer.status,
      headers: after,
    });
  };
  const client = new ServiceClient({ baseUrl: "https://service.example", fetch });
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (work, ms) => (waits.push(ms / 1000), setTimeout(work, 0));
  let error = null;
  try {
    await CALLS[call](client);
  } catch (raised) {
    error = raised.code ?? raised.name;
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  if (new Set(keys).size !== 1) throw new TypeError("each attempt has the same key");
  return { attempts: keys.length, waits_s: waits, keyed: keys[0] !== null, error };
}

/** Returns what is read about a name from several servers, of which each returns a record, a status or nothing. */
async function nameOf({
  name,
  records,
  servers,
  late,
  main_s: mainS = 0,
  after_first_s: afterFirstS = 0,
  absent_is_enough: absentIsEnough = false,
}) {
  const fetch = async (url, { signal }) => {
    const { host, pathname } = new URL(url);
    let answer = servers[host];
    if (answer?.constructor === Object) answer = answer[pathname.split("/")[1]] ?? 404;
    if (answer === "silent")
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    if (answer === "late") {
      await new Promise((resolve) => setTimeout(resolve, 200));
      answer = late;
    }
    return typeof answer === "number"
      ? new Response(null, { status: answer })
      : new Response(Buffer.from(records[answer], "hex"));
  };
  const gateways = new Gateways(
    Object.keys(servers).map((host) => `https://${host}`),
    fetch,
    { afterFirstMs: afterFirstS * 1000, mainMs: mainS * 1000 },
  );
  const { newest, failed, hasMain } = await gateways.answers(name, { absentIsEnough });
  gateways.close();
  const known = Object.keys(records).find((it) => newest && records[it] === Buffer.from(newest.data).toString("hex"));
  return { newest: known ?? null, failed: failed.map(({ http }) => http.host).sort(), has_main: hasMain };
}

/** One device: its store is in memory, its enclave and its servers are scripted. */
class Player {
  effects = [];
  answers = {};
  store = new MemoryStore();

  constructor(roots) {
    this.roots = { ...roots };
    this.place = {
      gateways: {
        record: async () => this.record(),
        snapshot: async (rootCid) => (this.answer("read snapshot", ` ${this.symbol(rootCid)}`), { blocks: [] }),
      },
      upload: async (taken) => this.upload(taken),
      publish: async (_name, record) => void this.answer("publish", ` ${new TextDecoder().decode(record)}`),
      pinning: {
        add: async ({ cid }) => this.answer("pin", ` ${this.symbol(cid)}`),
        wait: async () => {},
        list: async () => this.answer("list pins") ?? [],
        delete: async (requestId) => void this.answer("unpin", ` ${requestId}`),
      },
    };
    this.vault = {
      status: async () => ({ locked: Boolean(this.isNew), did: DID }),
      publishingKey: async () => (this.answer("vault: publishing key"), { name: NAME }),
      publishingDelegation: async () => (this.answer("vault: delegation"), { signed_dag_cbor: [0xa0] }),
      publish: async (rootCid, sequence) => {
        this.answer("vault: sign record", ` ${sequence} of ${this.symbol(rootCid)}`);
        return { record: [...new TextEncoder().encode(`record ${sequence}`)] };
      },
      unlock: async () => (this.answer("vault: unlock"), { success: true }),
    };
    this.publisher = new Publisher(this.vault, this.store, this.place, { tell: () => {}, kept: 10 });
  }

  async give({ vault, state }) {
    if (vault) await this.save(vault);
    if (!state) return;
    const named = Object.entries(state).map(([key, value]) => [key, this.roots[value] ?? value]);
    await writeState(this.store, { did: DID, ...Object.fromEntries(named) });
  }

  async turn(event) {
    [this.effects, this.answers] = [[], event.answers ?? {}];
    let error = null;
    try {
      await this[event.do](event);
    } catch (raised) {
      if (!raised.name || raised instanceof TypeError) throw raised;
      error = raised instanceof RequestRefused ? "RequestRefused" : raised.name;
    }
    const state = Object.entries(await readState(this.store, DID)).map(([key, value]) => [key, this.symbol(value)]);
    return { effects: this.effects, state: Object.fromEntries(state), error };
  }

  async publish() {
    await this.publisher.publish();
  }

  async overrule() {
    await this.publisher.overrule();
  }

  async change({ revision }) {
    const { manifest } = await this.store.load(DID);
    await this.save({ revision, root: this.symbol(manifest.rootCid) });
    this.publisher.changed();
  }

  /** Recovers the vault from the CAR file of a snapshot. */
  async recover({ on, revision, root, extra }) {
    const taken = await snapshotOf(this.manifest(on), sealed(revision));
    if (taken.rootCid !== this.roots[root]) throw new TypeError(`the snapshot is ${taken.rootCid}`);
    const more = extra ? [await blockOf("raw", new TextEncoder().encode("another's"))] : [];
    const car = writeCar(taken.rootCid, [...taken.blocks, ...more]);
    const key = { kind: "secret", secret: new Uint8Array(32).buffer };
    this.isNew = true;
    await new Recovery({ vault: this.vault }, this.store, this.place, { key, car }).recover();
    this.isNew = false;
  }

  async save({ revision, root }) {
    await this.store.save(this.manifest(root), sealed(revision), revision);
  }

  manifest(root) {
    return {
      rootCid: root === null ? null : this.roots[root],
      did: DID,
      updatedAt: UPDATED_AT,
      wasmVersion: "1",
      schemaVersion: 1,
    };
  }

  /** Returns the scenario's name for a root CID, and any other value unchanged. */
  symbol(value) {
    return Object.keys(this.roots).find((name) => this.roots[name] === value) ?? value;
  }

  answer(effect, detail = "") {
    this.effects.push(effect + detail);
    const answer = this.answers[effect] ?? null;
    if (typeof answer === "string" || answer?.refused) throw errorOf(answer);
    return answer;
  }

  record() {
    const answer = this.answer("read record");
    return answer && { rootCid: this.roots[answer.root], sequence: answer.sequence, data: new Uint8Array() };
  }

  async upload({ rootCid, manifest, sealed: bytes }) {
    const revision = Number(new DataView(bytes.buffer).getBigUint64(8));
    const name = `${revision} after ${manifest.rootCid === null ? "nothing" : this.symbol(manifest.rootCid)}`;
    this.roots[name] = rootCid;
    this.answer("upload", ` ${name}`);
  }
}

class MemoryStore {
  rows = new Map();
  notes = new Map();

  async load(did) {
    return this.rows.get(did) ?? null;
  }

  async save(manifest, bytes, revision) {
    this.rows.set(manifest.did, { did: manifest.did, revision, manifest, sealed: bytes });
  }

  async updateManifest(manifest) {
    this.rows.set(manifest.did, { ...this.rows.get(manifest.did), manifest });
  }

  async note(name) {
    return this.notes.get(name) ?? null;
  }

  async setNote(name, value) {
    this.notes.set(name, value);
  }
}

/** Returns the clear header of a sealed vault without keys, followed by nothing. */
function sealed(revision) {
  const bytes = new Uint8Array(44 + DID.length);
  bytes.set(new TextEncoder().encode("HFDB\x01\0"));
  new DataView(bytes.buffer).setUint16(6, DID.length);
  new DataView(bytes.buffer).setBigUint64(8, BigInt(revision));
  bytes.set(new TextEncoder().encode(DID), 44);
  return bytes;
}

/** Returns the error that an answer of a scenario stands for. */
function errorOf(answer) {
  if (answer === "lost") return new NetworkError("no answer");
  if (answer === "conflict") return new SnapshotConflict("other");
  const [code, status] = answer.refused;
  return new RequestRefused(code, status);
}
