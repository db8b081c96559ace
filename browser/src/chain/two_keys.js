/**
 * Which keys sign an operation of an account where two owners must sign (vectors/accounts/two_keys.json). The account then
 * accepts one signature only for what a spending permission of that key covers. So a permission for the vault's
 * own key states the sum up to which one signature suffices.
 */

import { hasExpired } from "./owners.js";
import { payeeIn, tokenOf } from "./permissions.js";

/**
 * @typedef {import("./granted.js").Granted} Granted
 * @typedef {{signer: string, signature: string}} Signed 0x-hex
 *
 * @typedef {object} SecondKey other owners' keys, of which one signs after the vault's, over the same hash
 * @property {() => Promise<string[]>} signers 0x-hex; an empty list: no key. The client then still finds payments for which
 *   one key suffices, and names the missing key for others
 * @property {(hash: string, signers: string[]) => Promise<Signed>} sign with one of those of the signers that are owners
 *
 * @typedef {object} Way how an operation is authorised
 * @property {"one" | "permission" | "two" | "missing"} kind "one": the vault's key signs; "permission": it signs, and spends
 *   by a permission; "two": a second key signs too; "missing": the second key is missing
 * @property {Granted} [granted] the permission
 * @property {string[]} keys the second keys that can sign, or the owners of which one is missing
 */

/**
 * Returns who signs any operation.
 *
 * @param {{threshold: number, own: string, seconds: string[], owners: {signer: string, expiry: number}[], now: number}} facts
 *   signers in 0x-hex; `now`: Unix time
 * @returns {Way}
 */
export function wayOf({ threshold, own, seconds, owners, now }) {
  if (threshold < 2) return { kind: "one", keys: [] };
  const others = owners.filter((it) => it.signer !== own && !hasExpired(it, now));
  const keys = others.map(({ signer }) => signer);
  const given = seconds.map((it) => it.toLowerCase());
  const present = keys.filter((it) => given.includes(it));
  return present.length ? { kind: "two", keys: present } : { kind: "missing", keys };
}

/**
 * Returns the way of a payment that a permission of the vault's own key covers.
 *
 * @param {string} ownId the ID of the vault's key, 0x-hex
 * @param {Granted[]} granted
 * @param {import("./calls.js").Payment} payment
 * @returns {Way | null} null if two keys must sign
 */
export function withinSum(ownId, granted, { to, amount, token }) {
  const same = (/** @type {string} */ one, /** @type {string} */ other) => one.toLowerCase() === other.toLowerCase();
  const found = granted.find(({ permission: it, left }) => {
    const isFor = it.keyId === ownId && BigInt(it.function) === 0n && left >= amount;
    return isFor && same(tokenOf(it), token) && same(payeeIn(it) ?? to, to);
  });
  return found ? { kind: "permission", granted: found, keys: [] } : null;
}
