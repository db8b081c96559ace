/** What a client does with its vault's snapshots: keeps them up to date by itself, ends conflicts, recovers. */

import { AutomaticSnapshots } from "./automatic.js";
import { writeCar } from "./cars.js";
import { compared } from "./comparison.js";
import { SnapshotConflict, SnapshotRolledBack, asStorageErrors, reasonOf } from "./errors.js";
import { carriedKeys, copied, includes, removeAll, removedKeys, wrapsOf } from "./keys.js";
import { ClientStateError, NetworkError, StorageError, VaultStore } from "./library.js";
import { SnapshotPlace } from "./place.js";
import { Publisher } from "./publisher.js";
import { Recovery } from "./recovery.js";
import { snapshotOfCar } from "./roots.js";
import { continued, publishedRecord } from "./published.js";
import { otherNote } from "./state.js";

const WRITE = "/snapshots/write";
const TOKEN_LIVES_S = 300;
const QUIET_MS = 2000;
const KEPT = 10;

/**
 * @typedef {import("./library.js").Client} Client
 * @typedef {import("./library.js").Vault} Vault
 * @typedef {import("./library.js").VaultKey} VaultKey
 * @typedef {import("./roots.js").Snapshot} Snapshot
 * @typedef {import("./state.js").SnapshotState} SnapshotState
 */

/**
 * The snapshots of one client's vault. The vault gets the event "snapshot" with each step: its `detail` is a
 * SnapshotState.
 */
export class KeptSnapshots {
  #client;
  #store;
  #place;
  #publisher;
  #automatic;
  #turn = Promise.resolve();
  #ending = new AbortController();

  /**
   * @param {Client} client
   * @param {import("./place.js").SnapshotConfig} [config]
   * @param {import("./http.js").Fetch} [fetch]
   */
  constructor(client, config = {}, fetch) {
    const { vault } = client;
    this.#client = client;
    this.#store = new VaultStore({ dbName: vault.dbName });
    this.#place = new SnapshotPlace(client.baseUrl, config, { mint: (audience) => tokenOf(vault, audience), fetch });
    const tell = (/** @type {SnapshotState} */ detail) => vault.dispatchEvent(new CustomEvent("snapshot", { detail }));
    this.#publisher = new Publisher(vault, this.#store, this.#place, { tell, kept: config.kept ?? KEPT });
    this.#automatic = new AutomaticSnapshots(() => this.publish(), config.debounceMs ?? QUIET_MS);
    if (config.automatic ?? true) this.#listen(vault);
  }

  /**
   * Asks the place for a sign of life, and brings up what is due.
   *
   * @throws {NetworkError} it gives no snapshots
   */
  async start() {
    await this.#place.gateways.probe();
  }

  /** There may be something to bring up: the vault was opened, changed or registered. */
  changed() {
    this.#publisher.changed();
    this.#automatic.changed();
  }

  /** @returns {Promise<SnapshotState>} how far the vault's snapshots are */
  state() {
    return this.#publisher.state();
  }

  /**
   * Brings the newest revision up now, unless it is there.
   *
   * @returns {Promise<SnapshotState>}
   * @throws {SnapshotConflict} another device changed the vault too; `compare` and `choose` end it
   * @throws {SnapshotRolledBack} the place shows an older snapshot than this browser has seen
   * @throws {RequestRefused | NetworkError | StorageError} the place does not take it
   */
  publish() {
    return this.#inTurn(async () => {
      const { vault } = this.#client;
      try {
        const state = await asStorageErrors(() => this.#publisher.publish());
        vault.report("helia", null);
        return state;
      } catch (error) {
        const told = error instanceof SnapshotConflict || error instanceof SnapshotRolledBack;
        if (!told && (error instanceof NetworkError || error instanceof StorageError)) vault.report("helia", reasonOf(error));
        throw error;
      }
    });
  }

  /** @returns {Promise<Uint8Array<ArrayBuffer>>} the newest revision as a CAR file, from which `recover` brings it back */
  async file() {
    const { rootCid, blocks } = await asStorageErrors(() => this.#publisher.taken());
    return writeCar(rootCid, blocks);
  }

  /**
   * In a conflict, how this device's version and the other one differ.
   *
   * @param {VaultKey} key opens the other version; its secret moves into the worker
   * @returns {Promise<import("./comparison.js").TableDifference[]>}
   */
  async compare(key) {
    return this.#opened(await this.#other(), key, (other) => compared(this.#client.vault, other));
  }

  /**
   * Ends a conflict. "here": this device's version is published on top of the other one, which stays pinned. "there": the
   * other version goes on, as a revision after this device's. Keys that either device removed stay removed.
   *
   * @param {"here" | "there"} version
   * @param {VaultKey | (() => Promise<VaultKey>)} key opens the vault; asked for only if the other version has to be opened
   * @returns {Promise<SnapshotState>}
   */
  async choose(version, key) {
    if (version !== "here" && version !== "there") throw new TypeError("version: here or there");
    const other = await this.#other();
    const asked = () => (typeof key === "function" ? key() : Promise.resolve(key));
    return this.#inTurn(async () => {
      await (version === "there" ? this.#take(other, await asked()) : this.#forgetRemoved(other, asked));
      return asStorageErrors(() => this.#publisher.overrule());
    });
  }

  /**
   * Brings a vault into this browser.
   *
   * @param {import("./recovery.js").RecoveryOptions} [options]
   * @returns {Promise<import("./recovery.js").Recovered>}
   * @throws {RecoveryRefused} nothing was stored; `code` says why
   * @throws {SnapshotRolledBack} an older snapshot than this browser has seen, and it was not accepted
   */
  recover(options = {}) {
    return this.#inTurn(() => new Recovery(this.#client, this.#store, this.#place, options).recover());
  }

  /** @returns {Promise<string | null>} the record of the last acknowledged snapshot, for a device that is paired */
  publishedRecord() {
    return publishedRecord(this.#client.vault, this.#store);
  }

  /**
   * Goes on from the last snapshot of the device that gave the vault. A record that the vault did not sign is ignored.
   *
   * @param {unknown} record what came with the vault, which is open now
   */
  continueFrom(record) {
    return this.#inTurn(() => continued(this.#client.vault, this.#store, record));
  }

  /** Ends requests and timers. What is due goes up the next time. */
  async close() {
    this.#automatic.close();
    this.#ending.abort();
    this.#place.close();
    await this.#store.close();
  }

  /** @param {Vault} vault */
  #listen(vault) {
    const { signal } = this.#ending;
    for (const type of ["opened", "stored"]) vault.addEventListener(type, () => this.changed(), { signal });
    globalThis.addEventListener?.("online", () => this.#automatic.hurry(), { signal });
    globalThis.document?.addEventListener("visibilitychange", () => this.#automatic.hurry(), { signal });
  }

  /** @returns {Promise<Snapshot>} the other device's version of a conflict */
  async #other() {
    const { did, otherRoot } = await this.state();
    if (otherRoot === null) throw new ClientStateError("no other version of the vault is known");
    const kept = await this.#store.note(otherNote(did));
    return asStorageErrors(async () => {
      const other = kept ? await snapshotOfCar(kept) : null;
      return other?.rootCid === otherRoot ? other : this.#place.gateways.snapshot(otherRoot);
    });
  }

  /**
   * The other version, open in a worker that has a database only for this.
   *
   * @template T
   * @param {Snapshot} other
   * @param {VaultKey} key
   * @param {(vault: Vault) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #opened(other, key, work) {
    const dbName = `${this.#client.vault.dbName}-compared`;
    const second = this.#client.vault.another({ dbName });
    try {
      await second.boot();
      const { success, error } = await second.unlock(key, { database: other.sealed.slice() });
      if (!success) throw new OtherKeys(error);
      return await work(second);
    } finally {
      second.close();
      indexedDB.deleteDatabase(dbName);
    }
  }

  /**
   * @param {Snapshot} other
   * @param {VaultKey} key
   */
  async #take(other, key) {
    const { vault } = this.#client;
    const { did } = other.manifest;
    const before = (await this.#store.load(did))?.revision ?? 0;
    const [keys, removed] = [await carriedKeys(vault), await removedKeys(vault)];
    const { sealed, forgetOlder } = await this.#opened(other, copied(key), async (second) => {
      const removedThere = await removedKeys(second);
      await removeAll(second, removed);
      return { sealed: await sealedAfter(second, before), forgetOlder: removedThere.some((it) => includes(keys, it)) };
    });
    await vault.lock();
    const { success, error } = await vault.unlock(key, { database: sealed }, { did });
    if (!success) throw new ClientStateError(`the other version does not open here (${error}): open the vault again`);
    await vault.save({ forgetOlder });
  }

  /**
   * Removes the keys that were removed from the other version. It is opened only if this one has a key that it lacks. A
   * version that the key does not open is of a device that an earlier release paired: its keys were never this one's.
   *
   * @param {Snapshot} other
   * @param {() => Promise<VaultKey>} key
   */
  async #forgetRemoved(other, key) {
    const { vault } = this.#client;
    const theirs = wrapsOf(other.sealed);
    if ((await carriedKeys(vault)).every((it) => includes(theirs, it))) return;
    try {
      await removeAll(vault, await this.#opened(other, await key(), removedKeys));
    } catch (error) {
      if (!(error instanceof OtherKeys)) throw error;
    }
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  #inTurn(work) {
    const done = this.#turn.then(work);
    this.#turn = done.then(() => {}, () => {});
    return done;
  }
}

/** The other version of the vault does not open with this key. */
class OtherKeys extends ClientStateError {
  /** @param {string} [code] */
  constructor(code) {
    super(`the other version does not open with this key (${code})`);
    this.name = "ClientStateError";
  }
}

/**
 * The vault sealed anew, with a higher revision than another.
 *
 * @param {Vault} vault
 * @param {number} before
 */
async function sealedAfter(vault, before) {
  for (;;) {
    const { database, revision } = await vault.save();
    if (revision > before) return Uint8Array.from(database);
  }
}

/**
 * A token of the vault's key for one upload or pin (decision 0621). The vault keeps no row of it: a row is a change, which
 * would be uploaded with another token.
 *
 * @param {Vault} vault
 * @param {string} audience
 */
async function tokenOf(vault, audience) {
  const expiration = Math.floor(Date.now() / 1000) + TOKEN_LIVES_S;
  return (await vault.invoke({ command: WRITE, args: {}, audience, expiration, record: false })).container;
}
