/** Plays the scenarios of uploading, comparing and recovering snapshots. */

import { NetworkError, PluginCallError } from "../../src/errors.ts";
import { writeCar } from "../../src/snapshots/cars.ts";
import { blockOf } from "../../src/snapshots/cids.ts";
import { compared } from "../../src/snapshots/versions.ts";
import { continueHere, copyTo, readBack } from "../../src/snapshots/moving.ts";
import { Publisher } from "../../src/snapshots/publisher.ts";
import { Recovery } from "../../src/snapshots/recovery.ts";
import { snapshotOf } from "../../src/snapshots/roots.ts";
import { otherNote, readState, recordNote, writeState } from "../../src/snapshots/state.ts";
import { MemoryStore } from "./memory_store.js";
import { Player, Script, told } from "./script.js";

const DID = `did:new:0x${"11".repeat(32)}`;
const utf8 = (/** @type {string} */ text) => new TextEncoder().encode(text);
const NAME = "k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8";
const OTHER_DID = DID.replaceAll("1", "2");
const UPDATED_AT = 1_700_000_000_000;
const FAR_FUTURE_NS = 2n ** 62n;
const SERVICE = "did:web:here.example";
const DELEGATION = Uint8Array.of(0xa0);
const WRAP_REST = 88; // bytes of a wrap after the key's ID (docs/formats.md)

// The client deletes the second vault's database, which Node lacks.
globalThis.indexedDB ??= { deleteDatabase: () => {} };

/** Returns what each event led to: its effects, the state that is stored after it, and its error. */
export async function playSnapshots(scenario) {
  const player = await new SnapshotPlayer(scenario).given(scenario.given ?? {});
  return player.outcomes(scenario);
}

/** One device: its store is in memory, its enclave and its servers are scripted. */
class SnapshotPlayer extends Player {
  store = new MemoryStore();
  records = {};
  found = []; // what gateways return: the newest snapshot, and the one before it
  locked = false;
  wasKept = false; // the other device's version in a conflict

  constructor({ roots = {} }) {
    super();
    this.roots = { ...roots };
  }

  async given({ vault, state, published = null }) {
    this.published = published;
    this.startAnew();
    if (vault) await this.save(vault);
    const named = Object.entries(state ?? {}).map(([key, value]) => [key, this.roots[value] ?? value]);
    if (state) await writeState(this.store, { did: DID, service: SERVICE, ...Object.fromEntries(named) });
    return this;
  }

  /** Starts the client anew: what it has only in memory is lost. */
  startAnew() {
    this.isNew = false;
    this.hosts = {
      service: SERVICE,
      gateways: {
        record: () => this.record(),
        snapshot: (rootCid) => this.snapshot(rootCid),
        answers: (name) => this.nameAnswers(name),
      },
      upload: (taken) => this.upload(taken),
      publish: (_name, record) => this.publishRecord(new TextDecoder().decode(record)),
    };
    this.vault = {
      status: async () => ({ locked: this.locked || this.isNew, did: DID }),
      publishingKey: async () => (await this.answer("vault: publishing key"), { name: NAME }),
      publishingDelegation: async () => (await this.answer("vault: delegation"), { signed_dag_cbor: [...DELEGATION] }),
      publish: (rootCid, sequence) => this.sign(rootCid, sequence),
      unlock: () => this.unlock(),
      save: () => this.saveNext(),
      another: () => this.secondVault(),
      verifyUcan: async () => {
        if (this.event.forged_delegation) throw new PluginCallError("verify", "not a token", "invalid_token");
      },
    };
    const inTurn = async (work) => {
      const { while_waiting_for_its_turn: meanwhile } = this.event;
      this.event = { ...this.event, while_waiting_for_its_turn: null };
      await this.changedByAnother(meanwhile);
      this.isTurn = true;
      return work().finally(() => (this.isTurn = false));
    };
    this.publisher = new Publisher(this.vault, this.store, this.hosts, { tell: () => {}, pinned: 10, inTurn });
  }

  /** The pinning service. */
  get pinning() {
    return {
      add: async ({ cid }) => ({ status: (await this.answer("pin", ` ${this.symbol(cid)}`)) ?? "pinned" }),
      wait: async ({ status }) => void (status === "pinned" || (await this.waitForPin())),
      list: async () => {
        const { pins = [], removed } = (await this.answer("list pins")) ?? {};
        if (removed) await this.change({ revision: removed, forgets: true });
        const { acknowledgedRoot } = await readState(this.store, DID);
        return pins.map((it, at) => {
          const { id: requestId, newest = false, meta = { vault: DID } } = it.id ? it : { id: it, newest: at === 0 };
          return { requestId, pin: { cid: newest ? acknowledgedRoot : "", meta } };
        });
      },
      delete: (requestId) => this.answer("unpin", ` ${requestId}`),
    };
  }

  async waitForPin() {
    if (this.isTurn) throw new TypeError("other flows need not wait for a pin too");
    await this.changedByAnother(await this.answer("wait for pin"));
  }

  /** Changes the state as another flow does. */
  async changedByAnother(changed) {
    const named = Object.entries(changed?.state ?? {}).map(([key, value]) => [key, this.roots[value] ?? value]);
    if (changed) await writeState(this.store, { ...(await readState(this.store, DID)), ...Object.fromEntries(named) });
  }

  async turn(event, stopAfter) {
    this.script = new Script(event.answers, stopAfter);
    this.event = event;
    this.hosts.pinning = (event.pinning ?? true) ? this.pinning : null;
    this.locked = event.locked ?? false;
    const { result = null, error = null } = await this.script
      .run(() => this[event.do](event))
      .then(
        (value) => ({ result: value }),
        (raised) => ({ error: raised }),
      );
    const state = await readState(this.store, DID);
    const isKept = (await this.store.note(otherNote(DID))) !== null;
    // The other device's version is kept until its successor is published.
    if (isKept ? state.status === "pinned" : this.wasKept && state.status !== "pinned")
      throw new TypeError(`the other version is ${isKept ? "left" : "gone"}`);
    this.wasKept = isKept;
    const shown = Object.entries(state).map(([key, value]) => [key, this.symbol(value)]);
    const record = new TextDecoder().decode((await this.store.note(recordNote(DID))) ?? utf8("none"));
    return { effects: this.script.effects, state: { ...Object.fromEntries(shown), record }, result, ...told(error) };
  }

  async publish({ imported }) {
    if (imported) await this.imported(imported);
    await this.publisher.publish();
  }

  async overrule() {
    await this.publisher.overrule();
  }

  async compare({ here, there }) {
    return compared(versionOf(here), versionOf(there));
  }

  /** Puts the vault's copy at another service, reads it back from there, and continues from it. */
  async copy() {
    const made = await copyTo(this.vault, this.store, this.hosts);
    await readBack(this.vault, this.hosts, made, { kind: "secret", secret: new Uint8Array(32).buffer });
    await continueHere(this.store, made);
  }

  async change({ revision, forgets }) {
    const { manifest } = await this.store.load(DID);
    const root = forgets || manifest.rootCid === null ? null : this.symbol(manifest.rootCid);
    await this.save({ revision, root }, forgets);
    this.publisher.changed();
  }

  /** Deletes the vault and imports another version of it, whose snapshots are not known. */
  async imported(revision) {
    await this.store.delete(DID);
    await this.store.save(this.manifest(null), sealed(revision, ["imported"]), revision);
    this.publisher.changed();
  }

  /** Recovers the vault from the CAR file of a snapshot. */
  async recover(event) {
    const { on, revision, root, extra, spoil, forged_delegation: isForged } = event;
    const manifest = { ...this.manifest(on), ...(isForged && { delegation: DELEGATION }) };
    const taken = await snapshotOf(manifest, sealed(revision));
    if (!isForged && taken.rootCid !== this.roots[root]) throw new TypeError(`the snapshot is ${taken.rootCid}`);
    const more = extra ? [await blockOf("raw", new TextEncoder().encode("another's"))] : [];
    await this.recovered(event, { car: spoilt(writeCar(taken.rootCid, [...taken.blocks, ...more]), spoil) });
  }

  /** Recovers the vault from what is published under a name. Its delegation counts as valid. */
  async recover_name(event) {
    this.found = [];
    for (const it of event.before ? [event.before, event] : [event]) await this.publishSnapshot(it);
    await this.recovered(event, { name: NAME });
  }

  /** Recovers the vault that a passkey opens, which returns a secret if `hasKey` says so. */
  async recover_passkey({ secret: hasKey, user_handle: handle = "" }) {
    this.isNew = true;
    const passkey = { credentialId: "AA", userHandle: Buffer.from(handle, "hex").toString("base64url"), hasKey };
    await new Recovery({ vault: this.vault }, this.store, this.hosts, { passkey }).recover();
  }

  async publishSnapshot({ on = null, revision, root, wraps, later_ms: laterMs = 0, of_another: isOther }) {
    const did = isOther ? OTHER_DID : DID;
    const manifest = { ...this.manifest(on), did, updatedAt: UPDATED_AT + laterMs, delegation: DELEGATION };
    const taken = await snapshotOf(manifest, sealed(revision, wraps, did));
    this.roots[root] = taken.rootCid;
    this.found.push(taken);
  }

  async recovered({ accept }, source) {
    this.isNew = true;
    const key = { kind: "secret", id: "secret", secret: new Uint8Array(32).buffer };
    const asked = (_reason, { message }) =>
      this.script.perform(`ask: ${message.replace(/^Storage: /, "")}`).then(() => accept ?? false);
    const options = { key, ...(accept !== "no one" && { accept: asked }), ...source };
    await new Recovery({ vault: this.vault }, this.store, this.hosts, options).recover().finally(() => {
      this.isNew = false;
    });
  }

  async save({ revision, root }, forgetOlder = false) {
    await this.store.save(this.manifest(root), sealed(revision), revision, { forgetOlder });
  }

  async saveNext() {
    await this.answer("vault: save");
    await this.save({ revision: (await this.store.load(DID)).revision + 1, root: null });
  }

  manifest(root) {
    const rootCid = root === null ? null : this.roots[root];
    return { rootCid, did: DID, updatedAt: UPDATED_AT, wasmVersion: "1", schemaVersion: 1 };
  }

  /** Returns the scenario's name for a root CID, and any other value unchanged. */
  symbol(value) {
    return Object.keys(this.roots).find((name) => this.roots[name] === value) ?? value;
  }

  async sign(rootCid, sequence) {
    await this.answer("vault: sign record", ` ${sequence} of ${this.symbol(rootCid)}`);
    const record = `record ${sequence}`;
    this.records[record] = this.symbol(rootCid);
    return { record: [...new TextEncoder().encode(record)] };
  }

  async unlock() {
    const answer = thrown(await this.answer("vault: unlock"));
    return { success: answer === null, ...answer };
  }

  secondVault() {
    return {
      boot: async () => {},
      unlock: async () => {
        const answer = thrown(await this.answer("second vault: unlock"));
        return { success: answer === null, ...answer };
      },
      close: () => {},
    };
  }

  recordOf({ root, sequence, expired }) {
    const validityNs = expired ? 0n : FAR_FUTURE_NS;
    return {
      publicKey: new Uint8Array(32),
      rootCid: this.roots[root],
      sequence,
      validityNs,
      data: utf8(`record ${sequence}`),
    };
  }

  async record() {
    const answer = (await this.answer("read record")) ?? this.published;
    return answer === null || answer === "none" ? null : this.recordOf(answer);
  }

  async nameAnswers(name) {
    const what = name === NAME ? "read record" : "read another record";
    const { record = this.published, silent = [], elsewhere } = (await this.answer(what)) ?? {};
    const failed = silent.map((host) => ({ http: { host }, error: new NetworkError("no answer") }));
    const newest = record === null || record === "none" ? null : this.recordOf(record);
    const hasMain = !silent.includes("service.example");
    return { newest, failed, hasMain, atMain: hasMain && !elsewhere };
  }

  async snapshot(rootCid) {
    const answer = await this.answer("read snapshot", ` ${this.symbol(rootCid)}`);
    if (answer === "another vault") return snapshotOf(this.manifest(null), sealed(9));
    return this.found.find((it) => it.rootCid === rootCid) ?? { blocks: [] };
  }

  async upload(taken) {
    const { rootCid, manifest, sealed: bytes } = taken;
    const revision = Number(new DataView(bytes.buffer).getBigUint64(8));
    const name = `${revision} after ${manifest.rootCid === null ? "nothing" : this.symbol(manifest.rootCid)}`;
    this.roots[name] = rootCid;
    await this.answer("upload", ` ${name}`, () => this.found.push(taken));
  }

  async publishRecord(record) {
    const published = { root: this.records[record], sequence: Number(record.split(" ")[1]) };
    const answer = await this.answer("publish", ` ${record}`, () => (this.published = published));
    if (answer) await this.imported(answer.imported);
  }
}

/** Returns an unlocked version of a vault: the rows of its tables, and the keys that open it. */
function versionOf({ keys = [], ...tables }) {
  return {
    exec: async (words) => {
      const rows = tables[words.split(" ")[0].split(":")[1]] ?? [];
      return typeof rows === "string" ? { success: false, error: rows } : { success: true, result: rows };
    },
    keys: async () => ({ wraps: keys.map(([kind, id]) => ({ kind, id })) }),
  };
}

/** Returns the clear header of a sealed vault, followed by nothing. Each text stands for the wrap of a secret. */
function sealed(revision, wraps = [], did = DID) {
  const named = wraps.map((it) => `\x01\x06secret${it.padEnd(WRAP_REST, "\0")}`);
  const header = new Uint8Array(44);
  header.set(new TextEncoder().encode("HFDB\x01"));
  header[5] = wraps.length;
  new DataView(header.buffer).setUint16(6, DID.length);
  new DataView(header.buffer).setBigUint64(8, BigInt(revision));
  return Uint8Array.of(...header, ...utf8(`${did}${named.join("")}`));
}

/** Returns an enclave's answer. Throws the error with which a scripted enclave fails. */
function thrown(answer) {
  if (answer?.throws) throw new PluginCallError("unlock", "not a vault", answer.throws);
  return answer;
}

function spoilt(car, how) {
  if (how === "cut") return car.slice(0, -10);
  const spoilt = car.slice();
  if (how === "changed") spoilt[spoilt.length - 1] ^= 1;
  return spoilt;
}
