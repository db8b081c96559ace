/**
 * Two versions of a vault: one is opened in a second worker, they are compared, and keys that either has removed stay
 * removed. Nothing is merged.
 */

import { removalOf, removedIn, seeRecorded } from "../vault/removals.js";
import { ClientStateError, PluginCallError } from "../errors.js";
import { RESOURCES } from "../generated/resources.js";

/**
 * @import {VaultKey} from "../holdfast.js"
 * @import {Vault} from "../vault/vault.js"
 * @import {Snapshot} from "./roots.js"
 * @typedef {{kind: string, id: string}} Name of a key
 *
 * @typedef {object} TableDifference a table in which two versions differ, with the identifiers of its differing rows
 * @property {string} table the resource, or "keys": the passkeys and passwords that open only one of the versions
 * @property {string[]} onlyHere rows that only this device's version has
 * @property {string[]} onlyThere rows that only the other version has
 * @property {string[]} different rows that both have, with different contents
 */

/** The fields that may identify a row, in order of preference. */
const KEYS = ["id", "cid", "credential_id", "address", "did", "name"];
const KEYS_TABLE = "keys";
const PAGE = 10_000;

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
 * @template T @param {Vault} vault @param {Snapshot} snapshot
 * @param {VaultKey} key its secret is transferred to the worker
 * @param {(second: Vault) => Promise<T>} work @returns {Promise<T>}
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

/** @param {Vault} here @param {Vault} there @returns {Promise<TableDifference[]>} empty if the versions are the same */
export async function compared(here, there) {
  const found = [];
  for (const table of [...RESOURCES, KEYS_TABLE]) {
    const [ours, theirs] = [await rows(here, table), await rows(there, table)];
    const names = [...ours.keys()].sort();
    found.push({
      table,
      onlyHere: names.filter((name) => !theirs.has(name)),
      onlyThere: [...theirs.keys()].filter((name) => !ours.has(name)).sort(),
      different: names.filter((name) => theirs.has(name) && theirs.get(name) !== ours.get(name)),
    });
  }
  return found.filter(({ onlyHere, onlyThere, different }) => onlyHere.length + onlyThere.length + different.length);
}

/**
 * @param {Vault} vault @param {string} table
 * @returns {Promise<Map<string, string>>} each row's contents by its identifier
 */
async function rows(vault, table) {
  if (table === KEYS_TABLE) return new Map((await carriedKeys(vault)).map(({ kind, id }) => [`${kind}:${id}`, ""]));
  const listed = await vault.exec(`resource:${table} action:list`, { limit: PAGE });
  if (!listed.success || !Array.isArray(listed.result)) {
    throw new PluginCallError("exec", `the rows of ${table} cannot be listed (${listed.error})`);
  }
  return new Map(listed.result.map((row) => [nameOf(row), JSON.stringify(row)]));
}

/** @param {any} row */
function nameOf(row) {
  const key = KEYS.find((it) => row?.[it] !== undefined && row[it] !== null);
  return String(key ? row[key] : JSON.stringify(row));
}

/**
 * Copies a key, because a key can be used only once: its bytes are transferred to the worker.
 * @param {VaultKey} key @returns {VaultKey}
 */
export function copied(key) {
  return /** @type {VaultKey} */ ("secret" in key ? { ...key, secret: key.secret.slice(0) } : key);
}

/** @param {Vault} vault @returns {Promise<Name[]>} the passkeys and passwords that open it */
export async function carriedKeys(vault) {
  return (await vault.keys()).wraps.filter(({ kind }) => kind !== "secret");
}

/** @param {Vault} vault @returns {Promise<Name[]>} the passkeys and passwords that were removed from it */
export async function removedKeys(vault) {
  const { success, result, error } = await vault.exec("resource:tokens action:list");
  if (!success) throw new PluginCallError("exec", `the removed keys cannot be listed (${error})`);
  return /** @type {any[]} */ (result).flatMap((row) => removedIn(row) ?? []);
}

/**
 * Removes keys from an open vault. A removal is recorded even if the vault does not have the key.
 * @param {Vault} vault @param {Name[]} names
 * @returns {Promise<boolean>} whether it had any of them
 * @throws {PluginCallError} `last_wrap`: no other key would be left; another code: a removal could not be recorded
 */
export async function removeAll(vault, names) {
  const had = await carriedKeys(vault);
  for (const { kind, id } of names) {
    if (includes(had, { kind, id })) await vault.removeKey(/** @type {"prf"} */ (kind), id);
    else seeRecorded(await vault.exec("resource:tokens action:create", removalOf(kind, id)));
  }
  return names.some((it) => includes(had, it));
}

/** @param {Name[]} names @param {Name} name */
export function includes(names, { kind, id }) {
  return names.some((it) => it.kind === kind && it.id === id);
}
