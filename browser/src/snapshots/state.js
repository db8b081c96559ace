/** Stores the state of a vault's snapshots in the browser's database, so that an interrupted upload can continue. */

import { fromHex } from "../bytes.js";
import { readRecord } from "./records.js";

const LONGEST_RECORD = 20_480; // hexadecimal digits

/**
 * The upload state of the newest revision, and the last acknowledged snapshot before it.
 *
 * @typedef {object} SnapshotState
 * @property {string} did the vault
 * @property {"queued" | "pinning" | "pinned" | "failed" | "conflict"} status failed: will be retried; conflict:
 *   another device published a snapshot that this one does not contain, and the person has to choose
 * @property {number} revision the revision that the state is about; 0 before the first
 * @property {string | null} rootCid the snapshot of that revision
 * @property {string | null} reason why it failed or conflicts, in the service's words
 * @property {string | null} acknowledgedRoot the last snapshot that was stored and published
 * @property {number} acknowledgedRevision
 * @property {string | null} precedingRoot the snapshot before the acknowledged one
 * @property {number} sequence of the last record that was seen or published
 * @property {string | null} otherRoot in a conflict, the other device's snapshot
 * @property {string | null} sentRoot the root in a record that was sent and not acknowledged yet
 * @property {number} sentRevision
 */

/**
 * @param {import("../vault/store.js").VaultStore} store @param {string} did
 * @returns {Promise<SnapshotState>} the stored state, or the initial one
 */
export async function readState(store, did) {
  return { ...firstState(did), ...(await store.note(nameOf(did))) };
}

/** @param {import("../vault/store.js").VaultStore} store @param {SnapshotState} state */
export async function writeState(store, state) {
  await store.setNote(nameOf(state.did), state);
}

/** @param {string} did @returns {SnapshotState} */
export function firstState(did) {
  return {
    did,
    status: "queued",
    revision: 0,
    rootCid: null,
    reason: null,
    acknowledgedRoot: null,
    acknowledgedRevision: 0,
    precedingRoot: null,
    sequence: 0,
    otherRoot: null,
    sentRoot: null,
    sentRevision: 0,
  };
}

/**
 * The state once the servers have acknowledged a snapshot.
 * @param {import("./roots.js").Snapshot} snapshot @param {number} revision @param {number} sequence of its record
 * @returns {SnapshotState}
 */
export function pinnedState({ rootCid, manifest }, revision, sequence) {
  const acknowledged = { acknowledgedRoot: rootCid, acknowledgedRevision: revision, precedingRoot: manifest.rootCid };
  return { ...firstState(manifest.did), status: "pinned", revision, rootCid, sequence, ...acknowledged };
}

/**
 * Adopts the snapshot in a record received with a vault as the latest one that this browser knows, so that its first upload
 * causes no conflict.
 * @param {import("../vault/vault.js").Vault} vault it is open
 * @param {import("../vault/store.js").VaultStore} store
 * @param {unknown} record from another device: it is ignored unless the vault's own key signed it
 */
export async function continued(vault, store, record) {
  const { did } = await vault.status();
  if (!did || typeof record !== "string" || record.length > LONGEST_RECORD) return;
  const { name } = await vault.publishingKey();
  const known = await Promise.resolve(record)
    .then((text) => readRecord(name, fromHex(text)))
    .catch(() => null);
  if (!known) return; // the first upload reports a conflict
  await store.setNote(recordNote(did), known.data);
  await writeState(store, { ...firstState(did), acknowledgedRoot: known.rootCid, sequence: known.sequence });
}

/**
 * Returns the name of the note that holds the other device's version during a conflict, as a CAR file.
 * @param {string} did
 */
export function otherNote(did) {
  return `snapshots:other:${did}`;
}

/**
 * Returns the name of the note that holds the last acknowledged snapshot's record, which a pairing passes on.
 * @param {string} did
 */
export function recordNote(did) {
  return `snapshots:record:${did}`;
}

/** @param {string} did */
function nameOf(did) {
  return `snapshots:${did}`;
}
