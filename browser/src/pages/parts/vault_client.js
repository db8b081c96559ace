/** The page's only client: booted in the background, and replaced after another tab has taken its vault. */

import { Client } from "../library.js";

/** The audience of the tokens for the vault's snapshots; the operator may have set one that differs from the address. */
export const SERVICE_DID = document.querySelector('meta[name="holdfast-did"]')?.getAttribute("content") || undefined;
/** @type {Client | null} */
let client = null;
/** @type {Promise<unknown> | null} */
let booted = null;
/** @type {(type: string) => void} */
let onEnd = () => {};

/**
 * Returns the client before it is ready: requests to the service need no enclave.
 *
 * @returns {Client}
 */
export function service() {
  if (!client) {
    const made = (client = new Client({ snapshots: { serviceDid: SERVICE_DID } }));
    for (const type of ["locked", "taken", "failed"]) {
      made.vault.addEventListener(type, () => {
        if (type !== "locked" && client === made) client = booted = null;
        onEnd(type);
      });
    }
  }
  return client;
}

/**
 * Returns the client once its enclave is running.
 *
 * @returns {Promise<Client>}
 */
export async function ready() {
  const present = service();
  booted ??= present.boot();
  try {
    await booted;
  } catch (error) {
    if (client === present) client = booted = null; // the next attempt starts with a new client
    throw error;
  }
  return present;
}

/**
 * Sets what is called when the open vault is gone: with "locked", "taken" or "failed".
 *
 * @param {(type: string) => void} told
 */
export function whenGone(told) {
  onEnd = told;
}
