/** Remembers the addresses that this browser has paid, and detects addresses that only look like one of them. */

import { withStore } from "../vault/store.js";

const NOTE = "payees";
const MAX_PAYEES = 500;
/** How many digits at each end of an address people are assumed to compare. */
const ENDS = 4;

/**
 * Returns whether an address was paid before, is new, or only looks like one that was paid before. Pure.
 *
 * @param {string} address 0x-hex
 * @param {string[]} paid
 * @returns {"known" | "new" | "alike"} `alike`: it begins and ends like an earlier payee's, but differs
 */
export function familiarity(address, paid) {
  const wanted = address.toLowerCase();
  if (paid.includes(wanted)) return "known";
  const ends = (/** @type {string} */ one) => one.slice(2, 2 + ENDS) + one.slice(-ENDS);
  return paid.some((one) => ends(one) === ends(wanted)) ? "alike" : "new";
}

/** @returns {Promise<string[]>} addresses in lower case */
export function paidBefore() {
  return withStore(async (store) => (await store.note(NOTE)) ?? []);
}

/** @param {string} address */
export function rememberPayee(address) {
  const payee = address.toLowerCase();
  const change = (/** @type {string[] | null} */ before) =>
    [...(before ?? []).filter((one) => one !== payee), payee].slice(-MAX_PAYEES);
  return withStore((store) => store.changeNote(NOTE, change));
}
