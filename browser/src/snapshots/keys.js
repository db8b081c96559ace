/** Ensures that passkeys and passwords removed from either version of a vault stay removed. */

import { removalOf, removedIn, seeRecorded } from "../vault/removals.js";
import { PluginCallError } from "../errors.js";

/**
 * @import {VaultKey} from "../holdfast.js"
 * @import {Vault} from "../vault/vault.js"
 */

const HEADER = 44;
const WRAP_COUNT_AT = 5;
const DID_LENGTH_AT = 6;
/** The total length of the salt, Argon2id's parameters, the nonce and the sealed data key. */
const WRAP_REST = 16 + 12 + 12 + 48;
/** @type {Record<number, string>} */
const KINDS = { 1: "secret", 2: "prf", 3: "password" };

/**
 * @typedef {{kind: string, id: string}} Name of a key
 */

/**
 * Copies a key, because a key can be used only once: its bytes are transferred to the worker.
 * @param {VaultKey} key @returns {VaultKey}
 */
export function copied(key) {
  return /** @type {VaultKey} */ ("secret" in key ? { ...key, secret: key.secret.slice(0) } : key);
}

/**
 * Returns the wraps in a sealed vault's clear header (docs/formats.md), up to the first malformed one.
 * @param {Uint8Array} sealed
 * @returns {(Name & {bytes: string})[]} `bytes`: the whole wrap, for comparison
 */
export function wrapsOf(sealed) {
  const found = [];
  let at = HEADER + new DataView(sealed.buffer, sealed.byteOffset).getUint16(DID_LENGTH_AT);
  for (let count = sealed[WRAP_COUNT_AT]; count > 0; count -= 1) {
    const nameEnd = at + 2 + sealed[at + 1];
    const bytes = sealed.subarray(at, nameEnd + WRAP_REST);
    if (!(nameEnd + WRAP_REST <= sealed.length)) break;
    found.push({
      kind: KINDS[sealed[at]],
      id: new TextDecoder().decode(sealed.subarray(at + 2, nameEnd)),
      bytes: bytes.join(),
    });
    at = nameEnd + WRAP_REST;
  }
  return found;
}

/**
 * @param {Vault} vault
 * @returns {Promise<Name[]>} the passkeys and passwords that open it
 */
export async function carriedKeys(vault) {
  return (await vault.keys()).wraps.filter(({ kind }) => kind !== "secret");
}

/**
 * @param {Vault} vault
 * @returns {Promise<Name[]>} the passkeys and passwords that were removed from it
 */
export async function removedKeys(vault) {
  const { success, result, error } = await vault.exec("resource:tokens action:list");
  if (!success) throw new PluginCallError("exec", `the removed keys cannot be listed (${error})`);
  return /** @type {any[]} */ (result).flatMap((row) => removedIn(row) ?? []);
}

/**
 * Removes keys from an open vault. A removal is recorded even if the vault does not have the key.
 * @param {Vault} vault @param {Name[]} names
 * @throws {PluginCallError} `last_wrap`: no other key would be left; another code: a removal could not be recorded
 */
export async function removeAll(vault, names) {
  const had = await carriedKeys(vault);
  for (const { kind, id } of names) {
    if (includes(had, { kind, id })) await vault.removeKey(/** @type {"prf"} */ (kind), id);
    else seeRecorded(await vault.exec("resource:tokens action:create", removalOf(kind, id)));
  }
}

/** @param {Name[]} names @param {Name} name */
export function includes(names, { kind, id }) {
  return names.some((it) => it.kind === kind && it.id === id);
}
