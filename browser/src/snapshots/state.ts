/** Stores the state of a vault's snapshots in the browser's database, so that an interrupted upload can continue. */

import { fromHex } from "../bytes.ts";
import type { VaultStore } from "../vault/store.ts";
import type { Vault } from "../vault/vault.ts";
import { readRecord } from "./records.ts";
import type { Snapshot } from "./roots.ts";

const LONGEST_RECORD = 20_480; // hexadecimal digits

/** The upload state of the newest revision, and the last acknowledged snapshot before it. */
export interface SnapshotState {
  /** the vault */ did: string;
  /**
   * failed: will be retried; conflict: another device published a snapshot that this one does not contain, and the
   * person has to choose
   */
  status: "queued" | "pinning" | "pinned" | "failed" | "conflict";
  /** the revision that the state is about; 0 before the first */ revision: number;
  /** the snapshot of that revision */ rootCid: string | null;
  /** why it failed or conflicts, in the service's words */ reason: string | null;
  /** the last snapshot that was stored and published */ acknowledgedRoot: string | null;
  acknowledgedRevision: number;
  /** the snapshot before the acknowledged one */ precedingRoot: string | null;
  /** of the last record that was seen or published */ sequence: number;
  /** in a conflict, the other device's snapshot */ otherRoot: string | null;
  /** the root in a record that was sent and not acknowledged yet */ sentRoot: string | null;
  sentRevision: number;
  /** the DID of the service to which the revisions were sent; null if not known */ service: string | null;
}

/** @returns the stored state, or the initial one */
export async function readState(store: VaultStore, did: string): Promise<SnapshotState> {
  return { ...firstState(did), ...(await store.note(nameOf(did))) };
}

export async function writeState(store: VaultStore, state: SnapshotState) {
  await store.setNote(nameOf(state.did), state);
}

export function firstState(did: string): SnapshotState {
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
    service: null,
  };
}

/** The state once a service has acknowledged a snapshot. @param sequence of its record */
export function pinnedState(of: Snapshot, revision: number, sequence: number, service: string): SnapshotState {
  const { rootCid, manifest } = of;
  const acknowledged = { acknowledgedRoot: rootCid, acknowledgedRevision: revision, precedingRoot: manifest.rootCid };
  return { ...firstState(manifest.did), status: "pinned", revision, rootCid, sequence, service, ...acknowledged };
}

/**
 * Adopts the snapshot in a record received with a vault as the latest one that this browser knows, so that its first
 * upload causes no conflict.
 * @param vault it is open
 * @param record from another device: it is ignored unless the vault's own key signed it
 */
export async function continued(vault: Vault, store: VaultStore, record: unknown) {
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

/** Returns the name of the note that holds the other device's version during a conflict, as a CAR file. */
export function otherNote(did: string) {
  return `snapshots:other:${did}`;
}

/** Returns the name of the note that holds the last acknowledged snapshot's record, which a pairing passes on. */
export function recordNote(did: string) {
  return `snapshots:record:${did}`;
}

function nameOf(did: string) {
  return `snapshots:${did}`;
}
