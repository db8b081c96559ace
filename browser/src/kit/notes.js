/** What only the vault's pages do with the notes of this browser. */

import { sentNote, withStore } from "../vault/store.js";

export { facts, noteSent, shareSent } from "./stored.js";

/**
 * @typedef {import("./stored.js").Facts} Facts
 * @typedef {import("./stored.js").Sent} Sent
 */

/** @param {string} of @param {Facts} more */
export function addFacts(of, more) {
  return changeFacts(of, () => more);
}

/** @param {string} of @param {(before: Facts) => Facts} more returns what to add to the facts */
export function changeFacts(of, more) {
  const change = (/** @type {Facts | null} */ before) => ({ ...before, ...more(before ?? {}) });
  return withStore((store) => store.changeNote(`pages:facts:${of}`, change));
}

/** @param {string} did @returns {Promise<Sent[]>} the payments that this browser knows of, newest last */
export async function sentRows(did) {
  return (await withStore((store) => store.note(sentNote(did)))) ?? [];
}
