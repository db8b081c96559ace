/** Stores what the pages remember in this browser about registrations, passkeys and vaults. No entry is secret. */

import { snapshots, withStore } from "../library.ts";
import type { Attestation } from "../../generated/types.ts";
import type { Vault } from "../../vault/vault.ts";
import type { Copies } from "./providers.ts";

const MARK = "holdfast-vaults";
/**
 * The localStorage entry that marks an unfinished registration. Without it, the first screen need not wait for
 * the database.
 */
const BEGUN = "holdfast-registration";

/** a registration that is not finished */
export interface Begun {
  channel: "handle" | "email" | "sms";
  identifier: string;
  /** of the passkey, once it exists */ credentialId?: string;
  /** of the vault, once it is stored; without it the passkey opens nothing */ did?: string;
  /** whether a password protects the vault */ password?: boolean;
  attestation?: Attestation;
  /** the person's invitation code */ invitation?: string;
}

export async function begun(): Promise<Begun | null> {
  if (unmarked(BEGUN)) return null;
  return withStore((store) => store.note("pages:registration"));
}

/** @param row null: it has ended */
export function setBegun(row: Begun | null) {
  mark(BEGUN, row !== null);
  return withStore((store) => store.setNote("pages:registration", row));
}

/** Returns the DID of a vault that was received from another device and still has the temporary key. */
export function received(): Promise<string | null> {
  return withStore((store) => store.note("pages:received"));
}

/** The temporary key that opens a received vault until the person has chosen a permanent one. */
export const BETWEEN = { kind: "secret" as "secret", id: "pairing" };

/** Whether a stored vault has another key than the temporary one: from this device, or from the one that sent it. */
export async function hasAnotherKey(did: string): Promise<boolean> {
  const { wrapsOf } = await snapshots();
  const sealed = (await withStore((store) => store.load(did)))?.sealed;
  return sealed !== undefined && wrapsOf(sealed).some(({ id }) => id !== BETWEEN.id);
}

/** Removes the temporary key from a received vault that another key opens. */
export async function settled(vault: Vault) {
  const absent = (error: { code?: string }) => error.code === "not_found" || Promise.reject(error);
  await vault.removeKey(BETWEEN.kind, BETWEEN.id).catch(absent);
  await setReceived(null);
}

/** @param did null: it has no temporary key now */
export function setReceived(did: string | null) {
  return withStore((store) => store.setNote("pages:received", did));
}

/** which vault a passkey opens, and where else the passkey is; null: not known */
type Opens = { did: string; copies: Copies | null };

/** Returns which vault a passkey opens, as far as this browser knows. */
export function vaultOf(credentialId: string): Promise<Opens | null> {
  return withStore((store) => store.note(`pages:passkey:${credentialId}`));
}

/** Notes which vault a passkey opens. Where nothing can be stored, what the passkey did is done all the same. */
export function setVaultOf(credentialId: string, opens: Opens | null) {
  return withStore((store) => store.setNote(`pages:passkey:${credentialId}`, opens)).catch(() => {});
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

/** Whether localStorage can be read and does not contain a mark. */
function unmarked(name: string) {
  try {
    return localStorage.getItem(name) === null;
  } catch {
    return false; // only the database can tell
  }
}

function mark(name: string, set: boolean) {
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
