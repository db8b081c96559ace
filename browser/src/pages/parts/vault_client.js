/** The page's one client: booted in the background, made anew after another tab took its vault. */

import { Client } from "../library.js";

/** To whom the tokens of the vault's snapshots are made out; an operator may have chosen another than the address's. */
export const SERVICE_DID = document.querySelector('meta[name="holdfast-did"]')?.getAttribute("content") || undefined;
/** @type {Client | null} */
let client = null;
/** @type {Promise<unknown> | null} */
let booted = null;
/** @type {(type: string) => void} */
let onEnd = () => {};

/**
 * The client, before it is ready: requests to the service need no enclave.
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
 * The client with its enclave running.
 *
 * @returns {Promise<Client>}
 */
export async function ready() {
  const present = service();
  booted ??= present.boot();
  try {
    await booted;
  } catch (error) {
    if (client === present) client = booted = null; // the next attempt starts anew
    throw error;
  }
  return present;
}

/**
 * Who is told that the open vault is gone: "locked", "taken" or "failed".
 *
 * @param {(type: string) => void} told
 */
export function whenGone(told) {
  onEnd = told;
}
