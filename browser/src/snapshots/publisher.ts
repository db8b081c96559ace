/** Uploads a vault's newest revision as a snapshot, and publishes the record that points to it. */

import type { Vault } from "../vault/vault.ts";
import { writeCar } from "./cars.ts";
import { SnapshotConflict, reasonOf } from "./errors.ts";
import { ClientStateError, RequestRefused } from "../errors.ts";
import { pinRequested, type SnapshotHosts } from "./hosts.ts";
import { forgottenNote, type VaultStore } from "../vault/store.ts";
import type { InTurn } from "../vault/turns.ts";
import type { IpnsRecord } from "./records.ts";
import { type Snapshot, snapshotOf } from "./roots.ts";
import { otherNote, readState, recordNote, type SnapshotState, writeState } from "./state.ts";

/** A record must outlast the loss of a device by years; caches keep it for only a minute. */
const VALID_YEARS = 20;
const TTL_NS = 60_000_000_000n;
export const PIN_NAME = "vault";
const LISTED = 1000;
const CONFLICT = 409;
const CONFLICTING = "conflict" as const;

export type Stored = NonNullable<Awaited<ReturnType<VaultStore["load"]>>>;

type Publishing = { name: string; delegation: Uint8Array };

/**
 * Uploads, pins and publishes the newest revision of one open vault, from where the previous attempt stopped. What changes
 * the state runs in turn; what waits for a pin does not.
 */
export class Publisher {
  #vault;
  #store;
  #hosts;
  #tell;
  #retained;
  #inTurn;
  /** Cached until the vault changes, so that retries do not keep the enclave from locking itself. */
  #known = null as Publishing | null;
  #isVerified = false;

  constructor(
    vault: Vault,
    store: VaultStore,
    hosts: SnapshotHosts,
    { tell, pinned, inTurn }: { tell: (state: SnapshotState) => void; pinned: number; inTurn: InTurn },
  ) {
    this.#vault = vault;
    this.#store = store;
    this.#hosts = hosts;
    this.#tell = tell;
    this.#retained = pinned;
    this.#inTurn = inTurn;
  }

  /** Discards the cached name and delegation, because the vault, perhaps another one, was opened or changed. */
  changed() {
    this.#known = null;
    this.#isVerified = false;
  }

  /** @returns how far the upload is; `queued` if the vault has changed since the last one */
  async state(): Promise<SnapshotState> {
    const did = await this.#did();
    let state = await readState(this.#store, did);
    const { service } = this.#hosts;
    // Another service may lack what the previous one has acknowledged.
    if (state.service !== service) state = { ...state, service, acknowledgedRevision: 0, sentRevision: 0 };
    const stored = state.status === "pinned" ? await this.#store.load(did) : null;
    return stored && isDue(stored, state) ? { ...state, status: "queued" } : state;
  }

  /**
   * Uploads the newest revision, unless it has already been uploaded.
   * @throws {SnapshotConflict} another device has published too
   * @throws {RequestRefused | NetworkError | StorageError} the snapshot was not accepted; the error contains the
   *   server's reason
   */
  async publish(): Promise<SnapshotState> {
    if ((await this.#vault.status()).locked)
      throw new ClientStateError("the vault is locked: its snapshot is uploaded once it is open");
    const publishing = await this.#publishing();
    try {
      return await this.#published(publishing);
    } catch (error) {
      const met = error instanceof SnapshotConflict ? { status: CONFLICTING, otherRoot: error.otherRoot } : {};
      await this.#inTurn(async () =>
        this.#note(await this.state(), { status: "failed", reason: reasonOf(error), ...met }),
      );
      throw error;
    }
  }

  /** Resolves a conflict by publishing this device's version as the successor of the other one, which stays pinned. */
  async overrule(): Promise<SnapshotState> {
    await this.#inTurn(async () => {
      const state = await this.state();
      const { otherRoot: acknowledgedRoot } = state;
      if (acknowledgedRoot === null) throw new ClientStateError("there is no conflict to resolve");
      await this.#note(state, { status: "queued", acknowledgedRoot, acknowledgedRevision: 0, otherRoot: null });
    });
    return this.publish();
  }

  /** Returns the newest revision as a snapshot, which equals the published one if that revision has been uploaded. */
  async taken(): Promise<Snapshot> {
    const { delegation } = await this.#publishing();
    const stored = await this.#newest();
    const state = await this.state();
    return snapshotAfter(isDue(stored, state) ? state.acknowledgedRoot : state.precedingRoot, stored, delegation);
  }

  /** Returns name and delegation. A vault from before publishing keys existed gets a key, in a new revision. */
  async #publishing() {
    if (this.#known) return this.#known;
    const { name } = await this.#vault.publishingKey();
    const { signed_dag_cbor: signed } = await this.#vault.publishingDelegation();
    return (this.#known = { name, delegation: Uint8Array.from(signed) });
  }

  async #published({ name, delegation }: Publishing) {
    const { state, isPinned, finish } = await this.#inTurn(async () => {
      let stored = await this.#newest();
      let state = await this.state();
      if (!isDue(stored, state)) state = await this.#verified(state, name);
      if (!isDue(stored, state)) return { state };
      state = await this.#note(state, { status: "queued", revision: stored.revision, reason: null });
      state = await this.#compared(state, await this.#hosts.gateways.record(name), delegation);
      stored = await this.#newest();
      if (!isDue(stored, state)) return { state };
      const taken = await snapshotAfter(state.acknowledgedRoot, stored, delegation);
      state = await this.#note(state, { status: "pinning", rootCid: taken.rootCid });
      const isPinned = await pinRequested(this.#hosts, taken, PIN_NAME, metaOf(state.did));
      return { state, isPinned, finish: () => this.#named(name, taken, stored, state, delegation) };
    });
    if (!isPinned) return state;
    await isPinned();
    const isSame = async () => JSON.stringify(await this.state()) === JSON.stringify(state);
    const done = await this.#inTurn(async () => ((await isSame()) ? finish() : null));
    return done ?? this.publish(); // another flow has changed the state meanwhile
  }

  /** Asks the service once what it still has: less, after a restored backup. */
  async #verified(state: SnapshotState, name: string) {
    if (this.#isVerified || state.acknowledgedRoot === null) return state;
    const { newest, hasMain, atMain } = await this.#hosts.gateways.answers(name);
    if (!hasMain) return state; // it does not say
    this.#isVerified = true;
    const isNewest = newest && newest.sequence >= state.sequence; // the one seen last, or another device's
    if (isNewest && atMain) return state;
    const acknowledgedRoot = isNewest ? state.acknowledgedRoot : newest && newest.rootCid;
    return this.#note(state, { status: "queued", acknowledgedRoot, acknowledgedRevision: 0 });
  }

  /**
   * Compares the published record with what this browser knows. One older than it has seen, as after a restored backup,
   * is replaced: the next sequence follows both.
   */
  async #compared(state: SnapshotState, record: IpnsRecord | null, delegation: Uint8Array) {
    if (!record || record.sequence < state.sequence) return state;
    const { rootCid, sequence, data } = record;
    // The last record sent was published, but the response was lost.
    if (rootCid === state.sentRoot) return this.#acknowledged(state, sequence, data, delegation);
    if (rootCid !== state.acknowledgedRoot) await this.#conflict(state, record);
    await this.#store.setNote(recordNote(state.did), data);
    return this.#note(state, { sequence });
  }

  /** Stores the other device's version in this browser while gateways still have it. @throws {SnapshotConflict} */
  async #conflict(state: SnapshotState, { rootCid, sequence }: IpnsRecord) {
    const other = await this.#hosts.gateways.snapshot(rootCid);
    await this.#store.setNote(otherNote(state.did), writeCar(rootCid, other.blocks));
    await this.#note(state, { sequence });
    throw new SnapshotConflict(rootCid);
  }

  async #named(name: string, taken: Snapshot, stored: Stored, before: SnapshotState, delegation: Uint8Array) {
    const sequence = before.sequence + 1;
    const bytes = await signedRecord(this.#vault, taken.rootCid, sequence);
    const state = await this.#note(before, { sentRoot: taken.rootCid, sentRevision: stored.revision });
    try {
      await this.#hosts.publish(name, bytes);
    } catch (error) {
      const refused = error instanceof RequestRefused && error.status === CONFLICT;
      const found = refused ? await this.#hosts.gateways.record(name) : null;
      // Another device published after this device read the record and before it sent its own.
      if (found && found.sequence >= sequence && found.rootCid !== taken.rootCid) await this.#conflict(state, found);
      throw error;
    }
    const acknowledged = await this.#acknowledged(state, sequence, bytes, delegation);
    await this.#removeOldPins(acknowledged);
    return acknowledged;
  }

  async #acknowledged(state: SnapshotState, sequence: number, record: Uint8Array, delegation: Uint8Array) {
    this.#isVerified = true;
    await this.#store.setNote(recordNote(state.did), record);
    const { did, sentRoot, sentRevision, acknowledgedRoot: precedingRoot } = state;
    const stored = await this.#store.load(did);
    // Record the snapshot in the manifest, unless the vault was changed meanwhile, or imported, perhaps at this revision.
    if (stored && (await snapshotAfter(precedingRoot, stored, delegation)).rootCid === sentRoot)
      await this.#store.updateManifest({ ...stored.manifest, rootCid: sentRoot }, stored.sealed);
    await this.#store.setNote(otherNote(did), null); // until now it was this device's copy of the other version
    const acknowledged = {
      acknowledgedRoot: sentRoot,
      acknowledgedRevision: sentRevision,
      precedingRoot,
      otherRoot: null,
      sentRoot: null,
    };
    return this.#note(state, { status: "pinned", rootCid: sentRoot, reason: null, sequence, ...acknowledged });
  }

  /**
   * Removes this vault's oldest pins, made by any device, or all except the newest if a key was removed. If the service
   * refuses, the next upload retries the removal.
   */
  async #removeOldPins({ did, acknowledgedRevision, acknowledgedRoot }: SnapshotState) {
    const { pinning } = this.#hosts;
    if (!pinning) return;
    const note = forgottenNote(did);
    try {
      const forgotten = await this.#store.note<number>(note);
      const found = await pinning.list({ meta: metaOf(did), limit: LISTED });
      // Services may ignore the filter, and list pins of others.
      const older = found.filter(({ pin }) => pin.cid !== acknowledgedRoot && pin.meta?.vault === did);
      const retained = forgotten === null ? Math.max(this.#retained - 1, 0) : 0; // in addition to the newest
      for (const { requestId } of older.slice(retained)) await pinning.delete(requestId);
      // A key that was removed meanwhile counts at the next upload.
      if (forgotten !== null && acknowledgedRevision >= forgotten)
        await this.#store.replaceNotes({ [note]: [forgotten, null] });
    } catch {
      // The next upload retries.
    }
  }

  async #note(before: SnapshotState, changes: Partial<SnapshotState> = {}) {
    const state = { ...before, ...changes };
    await writeState(this.#store, state);
    this.#tell(state);
    return state;
  }

  async #newest() {
    const stored = await this.#store.load(await this.#did());
    if (!stored) throw new ClientStateError("no vault is stored here");
    return stored;
  }

  async #did() {
    const { did } = await this.#vault.status();
    if (!did) throw new ClientStateError("there is no vault");
    return did;
  }
}

/** Returns the snapshot of a stored vault that follows the snapshot `rootCid`. */
export function snapshotAfter(rootCid: string | null, { manifest, sealed }: Stored, delegation: Uint8Array) {
  return snapshotOf({ ...manifest, rootCid, delegation }, sealed);
}

/**
 * Whether the stored revision still has to be uploaded. This is always so for an imported vault, because its
 * manifest does not name the acknowledged snapshot.
 */
function isDue({ revision, manifest }: Stored, state: SnapshotState) {
  return revision !== state.acknowledgedRevision || manifest.rootCid !== state.acknowledgedRoot;
}

/** Returns the record that publishes a snapshot under the vault's name. */
export async function signedRecord(vault: Vault, rootCid: string, sequence: number) {
  const end = new Date();
  end.setUTCFullYear(end.getUTCFullYear() + VALID_YEARS);
  const validity = end.toISOString().replace("Z", "000000Z"); // as the enclave reads it
  return Uint8Array.from((await vault.publish(rootCid, sequence, validity, TTL_NS)).record);
}

/** Returns the metadata that distinguishes a vault's pins from the account's other pins. */
export function metaOf(did: string) {
  return { vault: did };
}
