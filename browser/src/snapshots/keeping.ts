/** Keeps a client's snapshots of its vault up to date, resolves conflicts between devices, and recovers vaults. */

import type { Client } from "../client.ts";
import { QUIET_MS } from "../generated/snapshot_retries.ts";
import { toHex } from "../bytes.ts";
import { tokenOf } from "../flows/signature.ts";
import type { Fetch } from "../http/http.ts";
import type { Sent } from "../kit/stored.ts";
import type { VaultKey } from "../passkeys/secrets.ts";
import type { Vault } from "../vault/vault.ts";
import { AutomaticSnapshots } from "./automatic.ts";
import { writeCar } from "./cars.ts";
import {
  carriedKeys,
  compared,
  copied,
  includes,
  openedBeside,
  CLOSED_FOR_EVER,
  OtherKeys,
  removeAll,
  removedKeys,
  type TableDifference,
} from "./versions.ts";
import { SnapshotConflict, asStorageErrors, reasonOf } from "./errors.ts";
import { ClientStateError, NetworkError, StorageError } from "../errors.ts";
import { wrapsOf } from "../vault/sealed_header.ts";
import { VaultStore } from "../vault/store.ts";
import { type InTurn, turns } from "../vault/turns.ts";
import { continueHere, type Copy, copyTo, readBack } from "./moving.ts";
import { type SnapshotConfig, SnapshotHosts } from "./hosts.ts";
import { Publisher } from "./publisher.ts";
import { type Recovered, Recovery, type RecoveryOptions } from "./recovery.ts";
import { type Snapshot, snapshotOfCar } from "./roots.ts";
import { exchanged } from "./shared_notes.ts";
import { continued, otherNote, recordNote, type SnapshotState } from "./state.ts";

const WRITE = "/snapshots/write";
const PINNED_SNAPSHOTS = 10;
const TURNS = new WeakMap<Vault, InTurn>();

/** The snapshots of one client's vault. Each step dispatches "snapshot" on it, with a SnapshotState in `detail`. */
export class VaultSnapshots {
  #client;
  #store;
  #hosts;
  #publisher;
  #tokens = 0; // made for uploads, each with the vault
  #automatic: AutomaticSnapshots | null = null;
  #uploading = turns(); // one at a time
  #turn;
  #copy: Copy | null = null;
  #ending = new AbortController();

  constructor(client: Client, config: SnapshotConfig = {}, fetch?: Fetch) {
    const { vault } = client;
    this.#client = client;
    this.#turn = turnOf(vault);
    this.#store = new VaultStore({ dbName: vault.dbName });
    this.#hosts = new SnapshotHosts(client.baseUrl, config, {
      mint: (audience) => (this.#tokens++, tokenOf(vault, audience, WRITE)),
      fetch,
    });
    this.#publisher = new Publisher(vault, this.#store, this.#hosts, {
      tell: (detail) => vault.dispatchEvent(new CustomEvent("snapshot", { detail })),
      pinned: config.pinned ?? PINNED_SNAPSHOTS,
      inTurn: (work) => this.#inTurn(work),
    });
    if (config.automatic ?? true)
      this.#automatic = new AutomaticSnapshots(
        () => this.publish(),
        config.debounceMs ?? QUIET_MS,
        () => this.#tokens,
      );
    this.#listen(vault);
    // The vault may have been opened before this module was loaded.
    void vault.status().then(
      ({ locked }) => locked || this.changed(),
      () => {},
    );
  }

  /** Checks that a gateway responds. @throws {NetworkError} no gateway responds */
  async start() {
    await this.#hosts.gateways.probe();
  }

  /** Schedules an upload, unless the configuration forbids it, because the vault was opened, changed or registered. */
  changed() {
    this.#publisher.changed();
    this.#automatic?.changed();
  }

  /** @returns how far the upload of the vault's newest revision is */
  state(): Promise<SnapshotState> {
    return this.#publisher.state();
  }

  /**
   * Uploads the newest revision now, unless it has already been uploaded.
   * @throws {SnapshotConflict} another device changed the vault too; `compare` and `choose` resolve it
   * @throws {RequestRefused | NetworkError | StorageError} the snapshot was not accepted
   */
  publish(): Promise<SnapshotState> {
    return this.#uploading(async () => {
      const { vault } = this.#client;
      try {
        const state = await this.#publisher.publish();
        vault.report("helia", null);
        return state;
      } catch (error) {
        const isFailure = error instanceof NetworkError || error instanceof StorageError;
        if (isFailure && !(error instanceof SnapshotConflict)) vault.report("helia", reasonOf(error));
        throw error;
      }
    });
  }

  /**
   * Uploads the vault's first snapshot now, unless there is one, and waits until it is acknowledged.
   * @param withinMs how long to wait at most
   * @returns whether the servers have a copy of the vault
   */
  async firstCopy(withinMs: number): Promise<boolean> {
    const { vault } = this.#client;
    if ((await this.state()).acknowledgedRevision > 0) return true;
    const ending = new AbortController();
    const { signal } = ending;
    const acknowledged: Promise<boolean> = new Promise((resolve) => {
      vault.addEventListener("snapshot", ({ detail }) => detail.acknowledgedRevision > 0 && resolve(true), { signal });
      setTimeout(() => resolve(false), withinMs);
    });
    this.publish().catch(() => this.changed());
    return acknowledged.finally(() => ending.abort());
  }

  /**
   * Exchanges what this browser and the vault's other devices noted about payments, and returns the notes of all.
   * @returns oldest first
   * @throws {RequestRefused | NetworkError | StorageError}
   */
  exchangeNotes(): Promise<Sent[]> {
    const { vault } = this.#client;
    return this.#uploading(() => asStorageErrors(() => exchanged(vault, this.#store, this.#hosts)));
  }

  /** @returns the newest revision as a CAR file, from which `recover` restores it */
  async file(): Promise<Uint8Array<ArrayBuffer>> {
    const { rootCid, blocks } = await asStorageErrors(() => this.#publisher.taken());
    return writeCar(rootCid, blocks);
  }

  /**
   * Returns the differences between this device's version and the other device's in a conflict.
   * @param key opens the other version; its secret is transferred to the worker
   */
  async compare(key: VaultKey): Promise<TableDifference[]> {
    return openedBeside(this.#client.vault, await this.#other(), key, (other) => compared(this.#client.vault, other));
  }

  /**
   * Resolves a conflict. "here": this device's version is published as the successor of the other version, which stays
   * pinned. "there": the other version becomes this device's next revision. Keys that either device removed stay
   * removed.
   * @param key opens the vault; a function is called only if the other version must be opened
   */
  async choose(version: "here" | "there", key: VaultKey | (() => Promise<VaultKey>)): Promise<SnapshotState> {
    if (version !== "here" && version !== "there") throw new TypeError("version: here or there");
    const keyOf = () => (typeof key === "function" ? key() : Promise.resolve(key));
    return this.#uploading(async () => {
      await this.#inTurn(async () => {
        const other = await this.#other(); // the one that an upload has met last
        await (version === "there" ? this.#take(other, await keyOf()) : this.#forgetRemoved(other, keyOf));
      });
      return this.#publisher.overrule();
    });
  }

  /**
   * Recovers a vault into this browser.
   * @throws {RecoveryRefused} nothing was stored; `code` says why
   * @throws {SnapshotRolledBack} the snapshot is older than one that this browser has seen, and was not accepted
   */
  recover(options: RecoveryOptions = {}): Promise<Recovered> {
    return this.#inTurn(() => new Recovery(this.#client, this.#store, this.#hosts, options).recover());
  }

  /** @returns the last acknowledged snapshot's record in hex, for a device that is being paired */
  async publishedRecord(): Promise<string | null> {
    const { did } = await this.#client.vault.status();
    const record = did ? await this.#store.note<Uint8Array<ArrayBuffer>>(recordNote(did)) : null;
    return record && toHex(record).slice(2);
  }

  /**
   * Makes later uploads continue from the sending device's last snapshot. Another key's record is ignored.
   * @param record the record received with the vault, which is now open
   */
  continueFrom(record: unknown) {
    return this.#inTurn(() => continued(this.#client.vault, this.#store, record));
  }

  /**
   * Puts a copy of the vault at this client's service, to which the person moves, and reads it back from there.
   * @param key the new passkey's; its secret is transferred to the worker
   * @returns the copy's root
   * @throws {MoveRefused} the service does not return what it got
   */
  copyTo(key: VaultKey): Promise<string> {
    const work = async () => {
      const copy = await copyTo(this.#client.vault, this.#store, this.#hosts);
      await readBack(this.#client.vault, this.#hosts, copy, key);
      this.#copy = copy;
      return copy.snapshot.rootCid;
    };
    return this.#uploading(() => asStorageErrors(work));
  }

  /** Makes later uploads continue from the copy that `copyTo` made. */
  continueHere() {
    const copy = this.#copy;
    if (!copy) throw new ClientStateError("there is no copy");
    return this.#inTurn(() => continueHere(this.#store, copy));
  }

  /** Cancels requests and timers. A revision that has not been uploaded yet is uploaded next time. */
  async close() {
    this.#automatic?.close();
    this.#ending.abort();
    this.#hosts.close();
    await this.#store.close();
  }

  #listen(vault: Vault) {
    const { signal } = this.#ending;
    for (const type of ["opened", "stored"]) vault.addEventListener(type, () => this.changed(), { signal });
    globalThis.addEventListener?.("online", () => this.#automatic?.hurry(), { signal });
    globalThis.document?.addEventListener("visibilitychange", () => this.#automatic?.hurry(), { signal });
  }

  /** @returns the other device's version in a conflict */
  async #other(): Promise<Snapshot> {
    const { did, otherRoot } = await this.state();
    if (otherRoot === null) throw new ClientStateError("no other version of the vault is known");
    const stored = await this.#store.note<Uint8Array<ArrayBuffer>>(otherNote(did));
    return asStorageErrors(async () => {
      const other = stored ? await snapshotOfCar(stored) : null;
      return other?.rootCid === otherRoot ? other : this.#hosts.gateways.snapshot(otherRoot);
    });
  }

  async #take(other: Snapshot, key: VaultKey) {
    const { vault } = this.#client;
    const { did } = other.manifest;
    const before = (await this.#store.load(did))?.revision ?? 0;
    const [keys, removed] = [await carriedKeys(vault), await removedKeys(vault)];
    const { sealed, forgetOlder } = await openedBeside(this.#client.vault, other, copied(key), async (second) => {
      const removedThere = await removedKeys(second);
      const had = await removeAll(second, removed);
      const forgetOlder = had || removedThere.some((it) => includes(keys, it));
      return { sealed: await sealedAfter(second, before), forgetOlder };
    });
    await vault.lock();
    const { success, error } = await vault.unlock(key, { database: sealed }, { did });
    if (!success) throw new ClientStateError(`the other version does not open here (${error}): open the vault again`);
    await vault.save({ forgetOlder });
  }

  /**
   * Removes from this version the keys that were removed from the other version. The other version is opened only if it
   * lacks one of this version's keys. If the key does not open the other version, the devices were paired by an earlier
   * release, which did not share keys between devices.
   */
  async #forgetRemoved(other: Snapshot, key: () => Promise<VaultKey>) {
    const { vault } = this.#client;
    const theirs = wrapsOf(other.sealed);
    if ((await carriedKeys(vault)).every((it) => includes(theirs, it))) return;
    const removed = openedBeside(vault, other, await key(), removedKeys).catch((error) => {
      if (error instanceof OtherKeys && CLOSED_FOR_EVER.has(error.code)) return [];
      throw error;
    });
    await removeAll(vault, await removed);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn(() => asStorageErrors(work));
  }
}

/** Returns the turn of what changes a vault's state, even if several clients use it. No wait for a pin is part of it. */
function turnOf(vault: Vault) {
  const turn = TURNS.get(vault) ?? turns();
  TURNS.set(vault, turn);
  return turn;
}

/** Saves the vault repeatedly until its revision is higher than `before`, and returns the sealed bytes. */
async function sealedAfter(vault: Vault, before: number) {
  for (;;) {
    const { database, revision } = await vault.save();
    if (revision > before) return Uint8Array.from(database);
  }
}
