/** Tests the ways back into a vault by opening a copy of it in a second worker. The copy is then deleted. */

import { Client, Vault, withStore } from "../library.js";
import { changeFacts } from "../../kit/notes.js";
import { ProblemError, succeeded } from "../parts/problems.js";
import { SERVICE_DID } from "../parts/vault_client.js";
import { refusedRecovery } from "../vault/recover.js";

const TRIAL_DB = "holdfast-trial";
const DIGITS = 1_000_000n;

/**
 * @typedef {import("../library.js").VaultKey} VaultKey
 */

/**
 * Records that one of the ways back has just opened the vault.
 *
 * @param {string} did
 * @param {string} mark of `ways.js`
 * @param {import("./ways.js").Tried} [more]
 */
export function noteTrial(did, mark, more = {}) {
  return changeFacts(did, ({ tried = {} }) => ({ tried: { ...tried, ...more, [mark]: Date.now() } }));
}

/**
 * Fetches the newest copy from the place where the vault's snapshots are stored, verifies every byte and opens it.
 *
 * @param {string} did
 * @param {import("../../snapshots/recovery.js").RecoveryOptions} how
 * @returns {Promise<{updatedAt: number, newest: boolean}>} `updatedAt`: when the copy was written, in Unix milliseconds;
 *   `newest`: true if it contains this browser's last change
 * @throws {ProblemError} it cannot be read, or belongs to another vault
 */
export async function fetchCopy(did, how) {
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

/** Returns the newest stored revision. @param {string} did */
async function revisionOf(did) {
  return (await withStore((store) => store.load(did)))?.revision ?? 0;
}

/**
 * Checks that a key opens the newest stored revision, without touching the open vault.
 *
 * @param {string} did
 * @param {VaultKey} key
 * @throws {ProblemError} it does not
 */
export async function tryKey(did, key) {
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
 * @param {string} did
 * @param {Uint8Array<ArrayBuffer>} data
 * @param {string} password
 * @throws {ProblemError} it does not
 */
export async function tryFile(did, data, password) {
  await inTrial(async (vault) => {
    const key = {
      kind: /** @type {"secret"} */ ("secret"),
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
 * @param {Client} client its vault is open
 * @param {string} number six digits
 */
export async function answerTo(client, number) {
  const signed = await client.vault.call("sign", { message: `Holdfast: trial ${number}`, deterministic: true });
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(octets(signed.signature))));
  return (new DataView(hash.buffer).getBigUint64(0) % DIGITS).toString().padStart(6, "0");
}

/** @param {any} bytes @returns {Uint8Array} */
function octets(bytes) {
  return bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : Uint8Array.from(bytes);
}

/** Creates the random number from which another device computes its six digits. */
export function newNumber() {
  return (crypto.getRandomValues(new BigUint64Array(1))[0] % DIGITS).toString().padStart(6, "0");
}

/**
 * @param {(vault: Vault) => Promise<void>} work
 */
async function inTrial(work) {
  const vault = new Vault({ dbName: TRIAL_DB });
  try {
    await vault.boot();
    await work(vault);
  } finally {
    vault.close();
    indexedDB.deleteDatabase(TRIAL_DB);
  }
}
