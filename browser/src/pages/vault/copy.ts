/** The state of the service's copy of the vault, which every part of a page takes from here. */

import type { SnapshotState as State } from "../../snapshots/state.ts";
import type { Vault } from "../../vault/vault.ts";
import { ready } from "../parts/vault_client.ts";

/**
 * kept: the service has a copy, perhaps an older one; coming: the first copy is being saved; none: it is not being
 * saved
 */
type Copy = "kept" | "coming" | "none";

/** The vaults whose snapshot events this page is already listening to. */
const heard = new WeakSet();
/** The state of the last event after `copyState` was called. */
let latest: State | null = null;
let draw: (state: State) => void = () => {};

/** @returns null if the snapshots' module could not be loaded */
export async function copyState(): Promise<State | null> {
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
 */
export function followCopy(known: State | null, drawn: (state: State) => void) {
  draw = drawn;
  return latest ?? known;
}

function listen(vault: Vault) {
  if (heard.has(vault)) return;
  heard.add(vault);
  vault.addEventListener("snapshot", (event) => {
    latest = event.detail;
    draw(latest);
  });
}

export function copyOf(state: State | null): Copy {
  if (state?.acknowledgedRoot) return "kept";
  return state?.status === "queued" || state?.status === "pinning" ? "coming" : "none";
}

/** Returns the name of a state's sentence: its status, `unregistered`, or `off` if the service stores no copies. */
export function copyStatus(state: State | null) {
  const { status = "failed", reason } = state ?? {};
  if (reason?.startsWith("DID_NOT_REGISTERED")) return "unregistered";
  return state === null || reason?.includes("(404)") ? "off" : status;
}
