/** The state of the service's copy of the vault, which every part of a page takes from here. */

import { ready } from "../parts/vault_client.js";

/**
 * @typedef {import("../../snapshots/state.js").SnapshotState} State
 * @typedef {"kept" | "coming" | "none"} Copy kept: the service has a copy, perhaps an older one; coming: the first copy
 *   is being saved; none: it is not being saved
 */

/** The vaults whose snapshot events this page is already listening to. */
const heard = new WeakSet();
/** The state of the last event after `copyState` was called. @type {State | null} */
let latest = null;
/** @type {(state: State) => void} */
let draw = () => {};

/** @returns {Promise<State | null>} null if the snapshots' module could not be loaded */
export async function copyState() {
  const client = await ready();
  listen(client.vault);
  latest = null;
  return client
    .snapshots()
    .then((it) => it.state())
    .catch(() => null);
}

/**
 * Returns the state, which may have changed since `copyState` returned `known`, and calls a function at each later
 * change, instead of the function that was given before. Call it when the screen is shown.
 *
 * @param {State | null} known
 * @param {(state: State) => void} drawn
 */
export function followCopy(known, drawn) {
  draw = drawn;
  return latest ?? known;
}

/** @param {import("../../vault/vault.js").Vault} vault */
function listen(vault) {
  if (heard.has(vault)) return;
  heard.add(vault);
  vault.addEventListener("snapshot", (event) => {
    latest = /** @type {CustomEvent<State>} */ (event).detail;
    draw(latest);
  });
}

/**
 * @param {State | null} state
 * @returns {Copy}
 */
export function copyOf(state) {
  if (state?.acknowledgedRoot) return "kept";
  return state?.status === "queued" || state?.status === "pinning" ? "coming" : "none";
}

/**
 * Returns the name of a state's sentence: its status, `unregistered`, or `off` if the service stores no copies.
 *
 * @param {State | null} state
 */
export function copyStatus(state) {
  const { status = "failed", reason } = state ?? {};
  if (reason?.startsWith("DID_NOT_REGISTERED")) return "unregistered";
  return state === null || reason?.includes("(404)") ? "off" : status;
}
