/** Asks the person before this page is closed, in the browser's own words, while something would be lost. */

/** @param {AbortSignal} signal ends the question */
export function askBeforeLeaving(signal) {
  addEventListener("beforeunload", (event) => event.preventDefault(), { signal });
}

/**
 * Asks before leaving while the vault's first copy is on its way to the service.
 *
 * @param {import("../../vault/vault.js").Vault} vault
 */
export function askDuringFirstCopy(vault) {
  let ending = new AbortController();
  for (const type of ["snapshot", "locked", "taken", "failed"]) {
    vault.addEventListener(type, (event) => {
      const { acknowledgedRoot, status } = /** @type {CustomEvent} */ (event).detail ?? {};
      ending.abort();
      ending = new AbortController();
      if (acknowledgedRoot === null && (status === "queued" || status === "pinning")) askBeforeLeaving(ending.signal);
    });
  }
}
