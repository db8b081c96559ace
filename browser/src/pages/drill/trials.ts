/** Tests the ways back into a vault by opening a copy of it in a second worker. The copy is then deleted. */

import type { VaultKey } from "../../passkeys/secrets.ts";
import type { RecoveryOptions } from "../../snapshots/recovery.ts";
import { Client, Vault, withStore } from "../library.ts";
import { changeFacts } from "../../kit/notes.ts";
import { ProblemError, succeeded } from "../parts/problems.ts";
import { SERVICE_DID } from "../parts/vault_client.ts";
import { refusedRecovery } from "../vault/recover.ts";
import type { Tried } from "./ways.ts";

const TRIAL_DB = "holdfast-trial";
const DIGITS = 1_000_000n;

/**
 * Records that one of the ways back has just opened the vault, which it did also where nothing can be stored.
 *
 * @param mark of `ways.ts`
 */
export function noteTrial(did: string, mark: string, more: Tried = {}) {
  return changeFacts(did, ({ tried = {} }) => ({ tried: { ...tried, ...more, [mark]: Date.now() } })).catch(() => {});
}

/**
 * Fetches the newest copy from the place where the vault's snapshots are stored, verifies every byte and opens it.
 *
 * @returns `updatedAt`: when the copy was written, in Unix milliseconds; `newest`: true if it contains this browser's
 *   last change
 * @throws {ProblemError} it cannot be read, or belongs to another vault
 */
export async function fetchCopy(did: string, how: RecoveryOptions): Promise<{ updatedAt: number; newest: boolean }> {
  const client = new Client({ dbName: TRIAL_DB, snapshots: { serviceDid: SERVICE_DID, automatic: false } });
  try {
    await client.boot();
    const found = await client.recover(how).catch((error) => Promise.reject(refusedRecovery(error)));
    if (found.did !== did) throw new ProblemError("drill.file.other");
    return { updatedAt: found.updatedAt, newest: found.revision >= (await revisionOf(did)) };
  } finally {
    await client.close();
    indexedDB.deleteDatabase(TRIAL_DB);
  }
}

/** Returns the newest stored revision. */
async function revisionOf(did: string) {
  return (await withStore((store) => store.load(did)))?.revision ?? 0;
}

/**
 * Checks that a key opens the newest stored revision, without touching the open vault.
 *
 * @throws {ProblemError} it does not
 */
export async function tryKey(did: string, key: VaultKey) {
  const stored = await withStore((store) => store.load(did));
  if (!stored) throw new ProblemError("drill.nothing");
  await inTrial(async (vault) => {
    succeeded(
      await vault.unlock(key, { database: stored.sealed }),
      key.kind === "password" ? "problem.wrong_password" : undefined,
    );
  });
}

/**
 * Checks that a backup file opens and contains this vault.
 *
 * @throws {ProblemError} it does not
 */
export async function tryFile(did: string, data: Uint8Array<ArrayBuffer>, password: string) {
  await inTrial(async (vault) => {
    const key = {
      kind: "secret" as "secret",
      id: "trial",
      secret: crypto.getRandomValues(new Uint8Array(32)),
    };
    const found = succeeded(await vault.import({ data, password }, key));
    if (found.did !== did) throw new ProblemError("drill.file.other");
  });
}

/**
 * Returns the six digits that only a device with this vault's keys can compute from a number.
 *
 * @param client its vault is open
 * @param number six digits
 */
export async function answerTo(client: Client, number: string) {
  const signed = await client.vault.call("sign", { message: `Holdfast: trial ${number}`, deterministic: true });
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(signed.signature)));
  return (new DataView(hash.buffer).getBigUint64(0) % DIGITS).toString().padStart(6, "0");
}

/** Creates the random number from which another device computes its six digits. */
export function newNumber() {
  return (crypto.getRandomValues(new BigUint64Array(1))[0] % DIGITS).toString().padStart(6, "0");
}

async function inTrial(work: (vault: Vault) => Promise<void>) {
  const vault = new Vault({ dbName: TRIAL_DB });
  try {
    await vault.boot();
    await work(vault);
  } finally {
    vault.close();
    indexedDB.deleteDatabase(TRIAL_DB);
  }
}
