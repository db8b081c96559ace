/** Stores what the pages remember in this browser about registrations, passkeys and vaults. No entry is secret. */

import { withStore } from "../library.js";

const MARK = "holdfast-vaults";
/**
 * The localStorage entry that marks an unfinished registration. Without it, the first screen need not wait for
 * the database.
 */
const BEGUN = "holdfast-registration";

/**
 * @typedef {object} Begun a registration that is not finished
 * @property {"handle" | "email" | "sms"} channel
 * @property {string} identifier
 * @property {string} [credentialId] of the passkey, once it exists
 * @property {string} [did] of the vault, once it is stored; without it the passkey opens nothing
 * @property {boolean} [password] whether a password protects the vault
 * @property {any} [attestation]
 * @property {string} [invitation] the person's invitation code
 */

/** @returns {Promise<Begun | null>} */
export async function begun() {
  if (unmarked(BEGUN)) return null;
  return withStore((store) => store.note("pages:registration"));
}

/** @param {Begun | null} row null: it has ended */
export function setBegun(row) {
  mark(BEGUN, row !== null);
  return withStore((store) => store.setNote("pages:registration", row));
}

/**
 * Returns the DID of a vault that was received from another device and to which no key of this device has been added
 * yet.
 *
 * @returns {Promise<string | null>}
 */
export function received() {
  return withStore((store) => store.note("pages:received"));
}

/** @param {string | null} did null: it has a key now */
export function setReceived(did) {
  return withStore((store) => store.setNote("pages:received", did));
}

/** @typedef {{did: string, copies: import("./providers.js").Copies | null}} Opens which vault a passkey opens, and where else the passkey
 *   is; null: not known */

/**
 * Returns which vault a passkey opens, as far as this browser knows.
 *
 * @param {string} credentialId
 * @returns {Promise<Opens | null>}
 */
export function vaultOf(credentialId) {
  return withStore((store) => store.note(`pages:passkey:${credentialId}`));
}

/** @param {string} credentialId @param {Opens | null} opens */
export function setVaultOf(credentialId, opens) {
  return withStore((store) => store.setNote(`pages:passkey:${credentialId}`, opens));
}

/**
 * Whether a vault was ever stored here, which distinguishes a browser that deleted its vault from one that never had
 * one.
 */
export function hadVault() {
  try {
    return localStorage.getItem(MARK) !== null;
  } catch {
    return false; // a browser that stores nothing
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

/** Forgets that a vault was stored here, after the person has removed it. */
export function unmarkVault() {
  mark(MARK, false);
}

/** Records outside IndexedDB that a vault is stored, and asks the browser for persistent storage. */
export function markVault() {
  mark(MARK, true); // without the mark, a deleted vault cannot be told from one that never existed
  void navigator.storage?.persist?.().catch(() => false);
}
