/** Stores what the pages remember in this browser. No entry is secret. */

import { VaultStore } from "../vault/store.js";

const MARK = "holdfast-vaults";
/**
 * The localStorage entry that marks an unfinished registration. If there is none, the first screen need not wait for
 * the database.
 */
const BEGUN = "holdfast-registration";
const SENT_KEPT = 200;

/**
 * @typedef {object} Begun a registration that is not finished
 * @property {"handle" | "email" | "sms"} channel
 * @property {string} identifier
 * @property {string} [credentialId] of the passkey, once it exists
 * @property {string} [did] of the vault, once it is stored; without it the passkey opens nothing
 * @property {boolean} [password] whether a password protects the vault
 * @property {any} [attestation]
 *
 * @typedef {{backupAt?: number, copyAt?: number, identifier?: string, origin?: string,
 *   tried?: import("../pages/drill/ways.js").Tried}} Facts about a vault, by its DID, or a delegation, by its CID; `origin`: of
 *   the application that requested it; `copyAt`: when the last tried copy on the service was written
 */

/**
 * Opens the store of this browser's vaults and notes for one piece of work.
 *
 * @template T
 * @param {(store: VaultStore) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function stored(work) {
  const store = new VaultStore();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** @returns {Promise<Begun | null>} */
export async function begun() {
  if (unmarked(BEGUN)) return null;
  return stored((store) => store.note("pages:registration"));
}

/** @param {Begun | null} row null: it has ended */
export function setBegun(row) {
  mark(BEGUN, row !== null);
  return stored((store) => store.setNote("pages:registration", row));
}

/**
 * Returns the DID of a vault that was received from another device and to which no key of this device has been added
 * yet.
 *
 * @returns {Promise<string | null>}
 */
export function received() {
  return stored((store) => store.note("pages:received"));
}

/** @param {string | null} did null: it has a key now */
export function setReceived(did) {
  return stored((store) => store.setNote("pages:received", did));
}

/** @param {string} of @returns {Promise<Facts>} */
export async function facts(of) {
  return (await stored((store) => store.note(`pages:facts:${of}`))) ?? {};
}

/** @param {string} of @param {Facts} more */
export function addFacts(of, more) {
  return changeFacts(of, () => more);
}

/** @param {string} of @param {(before: Facts) => Facts} more returns what to add to the facts */
export function changeFacts(of, more) {
  const change = (/** @type {Facts | null} */ before) => ({ ...before, ...more(before ?? {}) });
  return stored((store) => store.changeNote(`pages:facts:${of}`, change));
}

/**
 * @typedef {{hash: string, to: string, address?: string, amount: string, symbol: string, time: string, state: "sent" | "confirmed" | "failed",
 *   shop?: string, label?: string}} Sent a payment: `hash` of the operation; `to`: as the person knows the payee;
 *   `amount`: decimal; `shop`: the host that asked for it, `label` in the shop's words
 */

/** @param {string} did @returns {Promise<Sent[]>} the payments sent from a vault in this browser, newest last */
export async function sentRows(did) {
  return (await stored((store) => store.note(`pages:sent:${did}`))) ?? [];
}

/**
 * Records a payment or its result.
 *
 * @param {string} did
 * @param {Sent} row
 */
export function noteSent(did, row) {
  const change = (/** @type {Sent[] | null} */ before) =>
    [...(before ?? []).filter(({ hash }) => hash !== row.hash), row].slice(-SENT_KEPT);
  return stored((store) => store.changeNote(`pages:sent:${did}`, change));
}

/** @typedef {{did: string, copies: import("../pages/parts/providers.js").Copies | null}} Opens which vault a passkey opens, and where else the passkey
 *   is; null: not known */

/**
 * Returns which vault a passkey opens, as far as this browser knows.
 *
 * @param {string} credentialId
 * @returns {Promise<Opens | null>}
 */
export function vaultOf(credentialId) {
  return stored((store) => store.note(`pages:passkey:${credentialId}`));
}

/** @param {string} credentialId @param {Opens | null} opens */
export function setVaultOf(credentialId, opens) {
  return stored((store) => store.setNote(`pages:passkey:${credentialId}`, opens));
}

/**
 * Whether a vault was ever stored here, which distinguishes a browser that deleted its vault from one that never had
 * one.
 */
export function hadVault() {
  try {
    return localStorage.getItem(MARK) !== null;
  } catch {
    return false;
  }
}

/** Whether localStorage can be read and does not contain a mark. @param {string} name */
function unmarked(name) {
  try {
    return localStorage.getItem(name) === null;
  } catch {
    return false; // only the database can tell
  }
}

/** @param {string} name @param {boolean} set */
function mark(name, set) {
  try {
    if (set) localStorage.setItem(name, "1");
    else localStorage.removeItem(name);
  } catch {
    // the database is then read each time
  }
}

/** Records outside IndexedDB that a vault is stored, and asks the browser for persistent storage. */
export function markVault() {
  mark(MARK, true); // without the mark, a deleted vault cannot be told from one that never existed
  void navigator.storage?.persist?.().catch(() => false);
}
