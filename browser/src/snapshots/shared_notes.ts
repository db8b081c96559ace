/** Carries the notes about payments between a vault's devices as separate pins (decision 0868). */

import { bytesOf } from "../bytes.ts";
import type { Sent as Note } from "../kit/stored.ts";
import { sentNote, type VaultStore } from "../vault/store.ts";
import type { Vault } from "../vault/vault.ts";
import { ContentError } from "./content_error.ts";
import { pinRequested, type SnapshotHosts } from "./hosts.ts";
import { NetworkError, insteadOf } from "../errors.ts";
import { DIGEST, merged, notesKey, type NotesKey, readNotes, sealed, unsealed } from "./payment_notes.ts";
import { snapshotOf } from "./roots.ts";

const PIN_NAME = "payments";
const FORM = "payments-1";
const LISTED = 1000;

/**
 * Exchanges a vault's notes with its other devices, and returns the notes of all devices, which this browser then has
 * too. The vault must be open.
 *
 * Each exchange pins the union of all notes before it unpins the parts, so nothing is lost, whatever is interrupted and
 * however many devices do the same: at worst several pins remain, which the next exchange unites.
 * @throws {RequestRefused | NetworkError | StorageError}
 */
export async function exchanged(vault: Vault, store: VaultStore, hosts: SnapshotHosts): Promise<Note[]> {
  const did = (await vault.status()).did as string;
  const { pinning } = hosts;
  if (!pinning) return noted(store, did, []);
  const { signature } = await vault.sign(DIGEST, { deterministic: true });
  const key = await notesKey(bytesOf(signature));
  const listed = await pinning.list({ meta: { [PIN_NAME]: did }, status: "pinned", limit: LISTED });
  const pins = listed.filter(({ pin }) => pin.meta?.[PIN_NAME] === did); // services may ignore the filter
  const read = await Promise.all(
    pins.map(async (pin) => ({ pin, notes: await notesOf(hosts, key, did, pin.pin.cid) })),
  );
  const found = read.filter(({ notes }) => notes !== null);
  const theirs = found.flatMap(({ notes }) => notes as Note[]);
  const union = await noted(store, did, theirs);
  if (union.length && !(found.length === 1 && JSON.stringify(theirs) === JSON.stringify(union))) {
    const storedCid = await pinned(hosts, did, await sealed(key, did, union));
    for (const { pin } of found) if (pin.pin.cid !== storedCid) await pinning.delete(pin.requestId);
  }
  return union;
}

/** Adds notes to this browser's, and returns all. */
async function noted(store: VaultStore, did: string, theirs: Note[]) {
  let union: Note[] = [];
  await store.changeNote<Note[]>(sentNote(did), (before) => (union = merged(readNotes(before ?? []), theirs)));
  return union;
}

/** Returns the notes under a pin; null for what cannot be read or is something else, and is left alone. */
async function notesOf(hosts: SnapshotHosts, key: NotesKey, did: string, cid: string) {
  const found = await hosts.gateways.snapshot(cid).catch(insteadOf([ContentError, NetworkError], null));
  return found && unsealed(key, did, found.sealed);
}

/** Uploads and pins sealed notes, in the form of a snapshot, and returns its root. */
async function pinned(hosts: SnapshotHosts, did: string, data: Uint8Array<ArrayBuffer>) {
  const manifest = { rootCid: null, did, updatedAt: 0, wasmVersion: FORM, schemaVersion: 1 as 1 };
  const snapshot = await snapshotOf(manifest, data);
  const isPinned = await pinRequested(hosts, snapshot, PIN_NAME, { [PIN_NAME]: did });
  await isPinned();
  return snapshot.rootCid;
}
