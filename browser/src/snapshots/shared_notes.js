/** Carries the notes about payments between a vault's devices as separate pins (decision 0868). */

import { bytesOf } from "../bytes.js";
import { sentNote } from "../vault/store.js";
import { ContentError } from "./content_error.js";
import { pinRequested } from "./hosts.js";
import { NetworkError, insteadOf } from "../errors.js";
import { DIGEST, merged, notesKey, readNotes, sealed, unsealed } from "./payment_notes.js";
import { snapshotOf } from "./roots.js";

/** @import {Note, NotesKey} from "./payment_notes.js" */

const PIN_NAME = "payments";
const FORM = "payments-1";
const LISTED = 1000;

/**
 * Exchanges a vault's notes with its other devices, and returns the notes of all devices, which this browser then has
 * too. The vault must be open.
 *
 * Each exchange pins the union of all notes before it unpins the parts, so nothing is lost, whatever is interrupted and
 * however many devices do the same: at worst several pins remain, which the next exchange unites.
 * @param {import("../vault/vault.js").Vault} vault @param {import("../vault/store.js").VaultStore} store
 * @param {import("./hosts.js").SnapshotHosts} hosts @returns {Promise<Note[]>}
 * @throws {RequestRefused | NetworkError | StorageError}
 */
export async function exchanged(vault, store, hosts) {
  const did = /** @type {string} */ ((await vault.status()).did);
  const { pinning } = hosts;
  if (!pinning) return noted(store, did, []);
  const { signature } = await vault.sign(DIGEST, { deterministic: true });
  const key = await notesKey(bytesOf(signature));
  const pins = await pinning.list({ meta: { [PIN_NAME]: did }, status: "pinned", limit: LISTED });
  const read = await Promise.all(
    pins.map(async (pin) => ({ pin, notes: await notesOf(hosts, key, did, pin.pin.cid) })),
  );
  const found = read.filter(({ notes }) => notes !== null);
  const theirs = found.flatMap(({ notes }) => /** @type {Note[]} */ (notes));
  const union = await noted(store, did, theirs);
  if (union.length && !(found.length === 1 && JSON.stringify(theirs) === JSON.stringify(union))) {
    const storedCid = await pinned(hosts, did, await sealed(key, did, union));
    for (const { pin } of found) if (pin.pin.cid !== storedCid) await pinning.delete(pin.requestId);
  }
  return union;
}

/**
 * Adds notes to this browser's, and returns all.
 * @param {import("../vault/store.js").VaultStore} store @param {string} did @param {Note[]} theirs
 */
async function noted(store, did, theirs) {
  /** @type {Note[]} */
  let union = [];
  await store.changeNote(sentNote(did), (before) => (union = merged(readNotes(before ?? []), theirs)));
  return union;
}

/**
 * Returns the notes under a pin; null for what cannot be read or is something else, and is left alone.
 * @param {import("./hosts.js").SnapshotHosts} hosts @param {NotesKey} key @param {string} did @param {string} cid
 */
async function notesOf(hosts, key, did, cid) {
  const found = await hosts.gateways.snapshot(cid).catch(insteadOf([ContentError, NetworkError], null));
  return found && unsealed(key, did, found.sealed);
}

/**
 * Uploads and pins sealed notes, in the form of a snapshot, and returns its root.
 * @param {import("./hosts.js").SnapshotHosts} hosts @param {string} did @param {Uint8Array<ArrayBuffer>} data
 */
async function pinned(hosts, did, data) {
  const manifest = { rootCid: null, did, updatedAt: 0, wasmVersion: FORM, schemaVersion: /** @type {1} */ (1) };
  const snapshot = await snapshotOf(manifest, data);
  const isPinned = await pinRequested(hosts, snapshot, PIN_NAME, { [PIN_NAME]: did });
  await isPinned();
  return snapshot.rootCid;
}
