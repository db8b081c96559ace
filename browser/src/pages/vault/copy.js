/** The state of the service's copy of the vault, which every part of a page takes from here. */

import { ready } from "../parts/vault_client.js";

/**
 * @typedef {import("../../snapshots/state.js").SnapshotState} State
 * @typedef {"kept" | "coming" | "none"} Copy kept: the service has a copy, perhaps an older one; coming: the first copy
 *   is being saved; none: it is not being saved
 */

/** The vaults whose snapshot events this page is already listening to. */
const heard = new WeakSet();
/** @type {(state: State) => void} */
let draw = () => {};

/** @returns {Promise<State | null>} null if the snapshots' module could not be loaded */
export async function copyState() {
  const client = await ready();
  return client.snapshots().then((it) => it.state()).catch(() => null);
}

/**
 * Calls a function at each change of the state from now on, instead of the function that was given before.
 *
 * @param {(state: State) => void} drawn
 */
export async function followCopy(drawn) {
  const { vault } = await ready();
  draw = drawn;
  if (heard.has(vault)) return;
  heard.add(vault);
  vault.addEventListener("snapshot", (event) => draw(/** @type {CustomEvent<State>} */ (event).detail));
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
