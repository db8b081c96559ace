/** Asks the person before this page is closed, in the browser's own words, while something would be lost. */

import type { SnapshotState } from "../../snapshots/state.ts";
import type { Vault } from "../../vault/vault.ts";

/** @param signal ends the question */
export function askBeforeLeaving(signal: AbortSignal) {
  addEventListener("beforeunload", (event) => event.preventDefault(), { signal });
}

/** Asks before leaving while the vault's first copy is on its way to the service. */
export function askDuringFirstCopy(vault: Vault) {
  let ending = new AbortController();
  for (const type of ["snapshot", "locked", "taken", "failed"] as const) {
    vault.addEventListener(type, (event) => {
      const { acknowledgedRoot, status } = (event.detail ?? {}) as Partial<SnapshotState>;
      ending.abort();
      ending = new AbortController();
      if (acknowledgedRoot === null && (status === "queued" || status === "pinning")) askBeforeLeaving(ending.signal);
    });
  }
}
