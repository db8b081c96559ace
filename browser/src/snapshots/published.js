/**
 * Passes on the record of a vault's last snapshot in a pairing, so that the new device continues from it without a
 * conflict.
 */

import { fromHex, toHex } from "../bytes.js";
import { readRecord } from "./records.js";
import { firstState, recordNote, writeState } from "./state.js";

/**
 * @import {VaultStore} from "../vault/store.js"
 * @import {Vault} from "../vault/vault.js"
 */

const LONGEST = 20_480;

/**
 * @param {Vault} vault @param {VaultStore} store
 * @returns {Promise<string | null>} hexadecimal; null before the first snapshot
 */
export async function publishedRecord(vault, store) {
  const { did } = await vault.status();
  const record = did ? await store.note(recordNote(did)) : null;
  return record && toHex(record).slice(2);
}

/**
 * Adopts the snapshot in a record received with a vault as the latest one that this browser knows.
 * @param {Vault} vault it is open
 * @param {VaultStore} store
 * @param {unknown} record from another device: it is ignored unless the vault's own key signed it
 */
export async function continued(vault, store, record) {
  const { did } = await vault.status();
  if (!did || typeof record !== "string" || record.length > LONGEST) return;
  const { name } = await vault.publishingKey();
  const known = await Promise.resolve(record)
    .then((text) => readRecord(name, fromHex(text)))
    .catch(() => null);
  if (!known) return; // the first upload reports a conflict
  await store.setNote(recordNote(did), known.data);
  await writeState(store, { ...firstState(did), acknowledgedRoot: known.rootCid, sequence: known.sequence });
}
