/** Opens a snapshot in a second worker, so that neither the client's vault nor its store changes. */

import { ClientStateError } from "../errors.js";

/** A version of the vault does not open with this key. */
export class OtherKeys extends ClientStateError {
  /** @param {string} [code] */
  constructor(code) {
    super(`the other version does not open with this key (${code})`);
    this.name = "ClientStateError";
  }
}

/**
 * Opens a snapshot in a second worker with a temporary database, and runs `work` with it.
 * @template T @param {import("../vault/vault.js").Vault} vault @param {import("./roots.js").Snapshot} snapshot
 * @param {import("../holdfast.js").VaultKey} key its secret is transferred to the worker
 * @param {(second: import("../vault/vault.js").Vault) => Promise<T>} work @returns {Promise<T>}
 * @throws {OtherKeys} the key does not open it
 */
export async function openedBeside(vault, snapshot, key, work) {
  const dbName = `${vault.dbName}-compared`;
  const second = vault.another({ dbName });
  try {
    await second.boot();
    const { success, error } = await second.unlock(key, { database: snapshot.sealed.slice() });
    if (!success) throw new OtherKeys(error);
    return await work(second);
  } finally {
    second.close();
    indexedDB.deleteDatabase(dbName);
  }
}
