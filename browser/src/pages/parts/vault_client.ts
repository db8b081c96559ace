/**
 * Creates the page's only client, boots it in the background, and replaces it after another tab has taken over its
 * vault.
 */

import { meta } from "../../kit/meta.ts";
import { secondPasskey } from "../../kit/second_passkey.ts";
import { Client } from "../library.ts";
import { askDuringFirstCopy } from "./leaving.ts";
import { saySlow } from "./screen.ts";
import { confirmedSecond } from "./second_key.ts";

/**
 * The audience of the tokens for the vault's snapshots, if the operator has set one that differs from the service's
 * address.
 */
export const SERVICE_DID = meta("did") || undefined;
/** The person's invitation code: from the address that they opened, or typed. */
let invitation = new URLSearchParams(location.search).get("invitation") ?? "";
/** The passkey that the person used last to confirm. */
let used = "";
/** An answer that takes longer than this is late, which the person is told. */
export const SLOW_MS = 8000;

let client: Client | null = null;
let booted: Promise<unknown> | null = null;
let onEnd: (type: string, why: string) => void = () => {};

/** Waits for `work`. While it does not end, the person is told so. */
async function watched<T>(work: Promise<T>): Promise<T> {
  let answered = () => {};
  const timer = setTimeout(() => (answered = saySlow()), SLOW_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    answered();
  }
}

/** Returns the client without waiting for its enclave, which requests to the service do not need. */
export function service(): Client {
  if (!client) {
    const made = (client = new Client({
      fetch: (...given) => watched(fetch(...given)),
      snapshots: { serviceDid: SERVICE_DID },
    }));
    made.invitation = invitation;
    made.secondKey = secondPasskey(made.vault, confirmedSecond, () => used);
    askDuringFirstCopy(made.vault);
    for (const type of ["locked", "taken", "failed"] as const) {
      made.vault.addEventListener(type, (event) => {
        if (type !== "locked" && client === made) client = booted = null;
        onEnd(type, event.detail);
      });
    }
  }
  return client;
}

/**
 * Returns the person's invitation code, after setting it if one is given.
 *
 * @returns empty without one
 */
export function invited(code?: string): string {
  if (code !== undefined) service().invitation = invitation = code;
  return invitation;
}

/** Notes that the person has confirmed with a passkey: where two keys must sign, another one is the second. */
export function noteUse(credentialId: string) {
  used = credentialId;
}

/** Returns the client once its enclave is running. */
export async function ready(): Promise<Client> {
  const present = service();
  booted ??= present.boot();
  try {
    await watched(booted);
  } catch (error) {
    if (client === present) client = booted = null; // the next attempt starts with a new client
    throw error;
  }
  return present;
}

/**
 * Sets the function to call with "locked", "taken" or "failed" when the open vault is no longer available.
 *
 * @param callback `why`: what another tab gave as its reason
 */
export function whenGone(callback: (type: string, why: string) => void) {
  onEnd = callback;
}
