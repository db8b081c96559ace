/** The last published snapshot of a vault that is paired: the new device continues it instead of finding a conflict. */

import { fromHex, toHex } from "../bytes.js";
import { readRecord } from "./records.js";
import { firstState, recordNote, writeState } from "./state.js";

const LONGEST = 20_480;

/**
 * @typedef {import("./library.js").Vault} Vault
 * @typedef {import("./library.js").VaultStore} VaultStore
 */

/**
 * @param {Vault} vault
 * @param {VaultStore} store
 * @returns {Promise<string | null>} hexadecimal; null before the first snapshot
 */
export async function publishedRecord(vault, store) {
  const { did } = await vault.status();
  const record = did ? await store.note(recordNote(did)) : null;
  return record && toHex(record).slice(2);
}

/**
 * Takes the record that came with a vault as the last snapshot that this browser knows.
 *
 * @param {Vault} vault it is open
 * @param {VaultStore} store
 * @param {unknown} record of another device: one that the vault's own key did not sign is ignored
 */
export async function continued(vault, store, record) {
  const { did } = await vault.status();
  if (!did || typeof record !== "string" || record.length > LONGEST) return;
  const { name } = await vault.publishingKey();
  try {
    const { rootCid, sequence, data } = await readRecord(name, fromHex(record));
    await store.setNote(recordNote(did), data);
    await writeState(store, { ...firstState(did), acknowledgedRoot: rootCid, sequence });
  } catch {
    // The first upload then asks about a conflict.
  }
}
