/**
 * Transfers every passkey and password of a vault in a pairing, so that the new device continues with the same data
 * key. As in holdfast/client/vault/carrying.py, the wraps are sent in a sealed vault. The key that opens the sealed
 * vault is in the vault that one enclave encrypts for the other. The records of removed keys are sent too, so that no
 * other device restores a removed key.
 */

import { randomBytes } from "../bytes.js";
import { PluginCallError } from "../errors.js";
import { removalOf, seeRecorded } from "./removals.js";

const PASSAGE = "pairing-passage";
const SECRET_BYTES = 32;
const SESSION_DIGITS = 8;

/**
 * @typedef {(fn: string, args: Record<string, any>) => any} Call one function of the enclave
 * @typedef {{kind: string, id: string}} Name of a key
 */

/**
 * Returns the response to the six digits, which contains the encrypted vault, and the vault's wraps in `sealed_vault`.
 *
 * @param {Call} call
 * @param {Record<string, any>} args of `sync_respond`
 * @returns {{answer: any, unsaved: boolean}} `unsaved`: there were unsaved changes, which the enclave no longer reports
 * @throws {PluginCallError} the vault has no room for another key
 */
export function give(call, args) {
  const { unsaved } = call("status", {});
  const secret = Array.from(randomBytes(SECRET_BYTES));
  try {
    const sealed = sealedFor(call, secret);
    const answer = released(call, args, secret);
    return { answer: answer.success ? { ...answer, sealed_vault: sealed } : answer, unsaved };
  } finally {
    call("save", {}); // the added key and row are removed again, so there is nothing to store
  }
}

/**
 * Opens a received vault, wraps it for this device's key, and keeps the wraps of the person's other keys.
 *
 * @param {Call} call
 * @param {Record<string, any>} args of `sync_complete`, and `sealed_vault`: "" if the other device did not send it,
 *   undefined if the caller takes the vault alone, by the interface's three steps
 * @returns {any} `sync_rejected` if only one of vault and keys arrived intact: a message was changed in transit
 */
export function take(call, { sealed_vault: sealed, key, ...args }) {
  const done = call("sync_complete", {
    ...args,
    key: { kind: "secret", id: PASSAGE, secret: Array.from(randomBytes(SECRET_BYTES)) },
  });
  if (!done.success) return done;
  const secret = passage(call, args.session_id);
  if (secret && sealed === undefined) {
    row(call, "delete", { id: args.session_id });
  } else if ((secret === null) !== !sealed || (secret && !reopened(call, sealed, secret, done.did))) {
    call("lock", {});
    return { success: false, session_id: done.session_id, error: "sync_rejected" };
  }
  own(call, key, args.session_id);
  return done;
}

/**
 * Updates the vault's list of removed passkeys and passwords after a key has been added or removed.
 *
 * @param {Call} call
 * @param {string} fn
 * @param {Record<string, any>} args
 * @throws {PluginCallError} the list could not be changed
 */
export function noteRemoval(call, fn, { kind, id = "", key }) {
  if (fn === "add_wrap") seeRecorded(row(call, "delete", { id: removalOf(key.kind, key.id ?? "").id }));
  if (fn === "remove_wrap" && kind !== "secret") seeRecorded(row(call, "create", removalOf(kind, id)));
}

/**
 * @param {Call} call
 * @param {number[]} secret
 * @returns {string}
 */
function sealedFor(call, secret) {
  call("add_wrap", { key: { kind: "secret", id: PASSAGE, secret } });
  try {
    return call("save", {}).database;
  } finally {
    call("remove_wrap", { kind: "secret", id: PASSAGE });
  }
}

/**
 * @param {Call} call
 * @param {Record<string, any>} args
 * @param {number[]} secret
 */
function released(call, args, secret) {
  const value = secret.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (!row(call, "create", { id: args.session_id, kind: PASSAGE, value }).success) {
    throw new PluginCallError("sync_respond", "the vault has no room for the key that pairing adds", "value_too_large");
  }
  try {
    return call("sync_respond", args);
  } finally {
    row(call, "delete", { id: args.session_id });
  }
}

/**
 * Returns the secret that opens the sealed vault with the wraps, or null if the other device does not send wraps.
 *
 * @param {Call} call
 * @param {string} session
 * @returns {string | null}
 */
function passage(call, session) {
  const { result } = row(call, "get", { id: session });
  return result?.kind === PASSAGE ? `0x${result.value}` : null;
}

/**
 * Replaces the received vault with the same vault under its original data key and with all its wraps.
 *
 * @param {Call} call
 * @param {string} database
 * @param {string} secret
 * @param {string} did
 */
function reopened(call, database, secret, did) {
  call("lock", {});
  try {
    const opened = call("unlock", { database, key: { kind: "secret", id: PASSAGE, secret } });
    return opened.success && opened.did === did;
  } catch {
    return false;
  }
}

/**
 * Wraps the vault for this device's key, and removes the keys that only the other device needs.
 *
 * @param {Call} call
 * @param {any} key
 * @param {string} session
 */
function own(call, key, session) {
  const { kind, id = "" } = key;
  /** @type {Name[]} */
  const wraps = call("list_wraps", {}).wraps;
  const taken = wraps.some((it) => it.kind === kind && it.id === id);
  // A new password whose name is taken gets a different name, so that the other device's password still opens the
  // vault.
  const added =
    taken && kind === "password" ? { ...key, id: `${id || kind}-${session.slice(0, SESSION_DIGITS)}` } : key;
  if (taken && added === key) call("remove_wrap", { kind, id });
  call("add_wrap", { key: added });
  for (const it of wraps) {
    if (it.kind === "secret" && (it.kind !== kind || it.id !== id)) call("remove_wrap", it);
  }
}

/**
 * @param {Call} call
 * @param {string} action
 * @param {Record<string, string>} args
 */
function row(call, action, args) {
  return call("exec", { filter: `resource:tokens action:${action}`, args });
}
