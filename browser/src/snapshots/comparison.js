/**
 * Finds, for each table of a vault, the rows that only one of two versions has and the rows that differ. Merges
 * nothing.
 */

import { carriedKeys } from "./keys.js";
import { RESOURCES } from "../generated/resources.js";
import { PluginCallError } from "../errors.js";

/** The fields that may identify a row, in order of preference. */
const KEYS = ["id", "cid", "credential_id", "address", "did", "name"];
const KEYS_TABLE = "keys";
const PAGE = 10_000;

/**
 * A table in which two versions differ, with the identifiers of its differing rows.
 *
 * @typedef {object} TableDifference
 * @property {string} table the resource, or "keys": the passkeys and passwords that open only one of the versions
 * @property {string[]} onlyHere rows that only this device's version has
 * @property {string[]} onlyThere rows that only the other version has
 * @property {string[]} different rows that both have, with different contents
 */

/**
 * @param {import("../vault/vault.js").Vault} here @param {import("../vault/vault.js").Vault} there
 * @returns {Promise<TableDifference[]>} empty if the versions are the same
 */
export async function compared(here, there) {
  const found = [];
  for (const table of [...RESOURCES, KEYS_TABLE]) {
    const read = table === KEYS_TABLE ? keys : rows;
    const [ours, theirs] = [await read(here, table), await read(there, table)];
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
 * @param {import("../vault/vault.js").Vault} vault @param {string} table
 * @returns {Promise<Map<string, string>>} each row's contents by its identifier
 */
async function rows(vault, table) {
  const listed = await vault.exec(`resource:${table} action:list`, { limit: PAGE });
  if (!listed.success || !Array.isArray(listed.result)) {
    throw new PluginCallError("exec", `the rows of ${table} cannot be listed (${listed.error})`);
  }
  return new Map(listed.result.map((row) => [nameOf(row), JSON.stringify(row)]));
}

/**
 * @param {import("../vault/vault.js").Vault} vault
 * @returns {Promise<Map<string, string>>} the passkeys and passwords that open it
 */
async function keys(vault) {
  return new Map((await carriedKeys(vault)).map(({ kind, id }) => [`${kind}:${id}`, ""]));
}

/** @param {any} row */
function nameOf(row) {
  const key = KEYS.find((it) => row?.[it] !== undefined && row[it] !== null);
  return String(key ? row[key] : JSON.stringify(row));
}
