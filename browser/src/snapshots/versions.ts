/**
 * Two versions of a vault: one is opened in a second worker, they are compared, and keys that either has removed stay
 * removed. Nothing is merged.
 */

import type { VaultKey } from "../passkeys/secrets.ts";
import { removalOf, removedIn, seeRecorded } from "../vault/removals.ts";
import { ClientStateError, PluginCallError } from "../errors.ts";
import { RESOURCES } from "../generated/resources.ts";
import type { Vault } from "../vault/vault.ts";
import type { Snapshot } from "./roots.ts";

/** of a key */
type Name = { kind: string; id: string };

/** a table in which two versions differ, with the identifiers of its differing rows */
export interface TableDifference {
  /** the resource, or "keys": the passkeys and passwords that open only one of the versions */ table: string;
  /** rows that only this device's version has */ onlyHere: string[];
  /** rows that only the other version has */ onlyThere: string[];
  /** rows that both have, with different contents */ different: string[];
}

/** The fields that may identify a row, in order of preference. */
const KEYS = ["id", "cid", "credential_id", "address", "did", "name"];
const KEYS_TABLE = "keys";
const PAGE = 10_000;

/** The codes of `OtherKeys` for what no later release opens. */
export const CLOSED_FOR_EVER = new Set<string | undefined>(["wrong_key", "invalid_database"]);

/** A version of the vault does not open with this key. `code`: the enclave's reason. */
export class OtherKeys extends ClientStateError {
  declare code?: string;

  constructor(code?: string) {
    super(`the other version does not open with this key (${code})`);
    this.name = "ClientStateError";
    this.code = code;
  }
}

/**
 * Opens a snapshot in a second worker with a temporary database, and runs `work` with it.
 * @param key its secret is transferred to the worker
 * @throws {OtherKeys} the key does not open it
 */
export async function openedBeside<T>(
  vault: Vault,
  snapshot: Snapshot,
  key: VaultKey,
  work: (second: Vault) => Promise<T>,
): Promise<T> {
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

/** @returns empty if the versions are the same */
export async function compared(here: Vault, there: Vault): Promise<TableDifference[]> {
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

/** @returns each row's contents by its identifier */
async function rows(vault: Vault, table: string): Promise<Map<string, string>> {
  if (table === KEYS_TABLE) return new Map((await carriedKeys(vault)).map(({ kind, id }) => [`${kind}:${id}`, ""]));
  const listed = await vault.exec<Record<string, unknown>[]>(`resource:${table} action:list`, { limit: PAGE });
  if (!listed.success || !Array.isArray(listed.result))
    throw new PluginCallError("exec", `the rows of ${table} cannot be listed (${listed.error})`);
  return new Map(listed.result.map((row) => [nameOf(row), JSON.stringify(row)]));
}

function nameOf(row: Record<string, unknown>) {
  const key = KEYS.find((it) => row[it] !== undefined && row[it] !== null);
  return String(key ? row[key] : JSON.stringify(row));
}

/** Copies a key, because a key can be used only once: its bytes are transferred to the worker. */
export function copied(key: VaultKey): VaultKey {
  return ("secret" in key ? { ...key, secret: key.secret.slice(0) } : key) as VaultKey;
}

/** @returns the passkeys and passwords that open it */
export async function carriedKeys(vault: Vault): Promise<Name[]> {
  return (await vault.keys()).wraps.filter(({ kind }) => kind !== "secret");
}

/** @returns the passkeys and passwords that were removed from it */
export async function removedKeys(vault: Vault): Promise<Name[]> {
  const { success, result, error } = await vault.exec("resource:tokens action:list");
  if (!success) throw new PluginCallError("exec", `the removed keys cannot be listed (${error})`);
  return (result ?? []).flatMap((row) => removedIn(row) ?? []);
}

/**
 * Removes keys from an open vault. A removal is recorded even if the vault does not have the key.
 * @returns whether it had any of them
 * @throws {PluginCallError} `last_wrap`: no other key would be left; another code: a removal could not be recorded
 */
export async function removeAll(vault: Vault, names: Name[]): Promise<boolean> {
  const had = await carriedKeys(vault);
  for (const { kind, id } of names) {
    if (includes(had, { kind, id })) await vault.removeKey(kind as "prf", id);
    else seeRecorded(await vault.exec("resource:tokens action:create", removalOf(kind, id)));
  }
  return names.some((it) => includes(had, it));
}

export function includes(names: Name[], { kind, id }: Name) {
  return names.some((it) => it.kind === kind && it.id === id);
}
