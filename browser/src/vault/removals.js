/** The rows that record the removal of a passkey or password, so that no other device restores it. */

import { PluginCallError } from "../errors.js";

const REMOVED = "removed-key";

/** @typedef {(fn: string, args: Record<string, any>) => any} Call one function of the enclave */

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
 * @param {string} kind of the key
 * @param {string} id
 * @returns {{id: string, kind: string, value: string}} a row of `tokens`
 */
export function removalOf(kind, id) {
  return { id: `${REMOVED}:${kind}:${id}`, kind: REMOVED, value: `${kind}:${id}` };
}

/**
 * @param {{kind: string, value: string}} row of `tokens`
 * @returns {{kind: string, id: string} | null} the key whose removal it records; null for another row
 */
export function removedIn({ kind, value }) {
  const colon = value.indexOf(":");
  return kind === REMOVED ? { kind: value.slice(0, colon), id: value.slice(colon + 1) } : null;
}

/**
 * @param {{success: boolean, error?: string}} answer to a change of these rows
 * @throws {PluginCallError} the change failed, although it was needed
 */
export function seeRecorded({ success, error }) {
  const [code] = (error ?? "").split(":");
  if (success || code === "conflict" || code === "not_found") return;
  throw new PluginCallError("exec", `the removal of a key could not be recorded (${error})`, code);
}

/**
 * @param {Call} call
 * @param {string} action
 * @param {Record<string, string>} args
 */
function row(call, action, args) {
  return call("exec", { filter: `resource:tokens action:${action}`, args });
}
