/** Script addresses under Trusted Types: one policy, `hf`, which passes exactly the scripts that this module knows. */

import { WasmLoadError } from "./errors.js";

const POLICY = "hf";

/** @typedef {string | {toString(): string}} ScriptAddress a string, a URL, or an application's own TrustedScriptURL */

/** The worker next to this module. */
export const workerAddress = new URL("./worker.js", import.meta.url).href;
/** That worker, and what `passScript` adds. */
const passed = new Set([workerAddress]);
/** @type {any} */
let policy = null;

/**
 * An address as `new Worker` and `serviceWorker.register` take it, also where the page's policy demands trusted types.
 *
 * @param {ScriptAddress} address one that this module knows, or a TrustedScriptURL
 * @returns {string} in the page's eyes a TrustedScriptURL
 * @throws {WasmLoadError} the page's Content-Security-Policy does not allow the policy `hf`
 */
export function scriptAddress(address) {
  const types = /** @type {any} */ (globalThis).trustedTypes;
  if (!types || types.isScriptURL(address)) return /** @type {string} */ (/** @type {unknown} */ (address));
  policy ??= madePolicy(types);
  return policy.createScriptURL(new URL(String(address), globalThis.location?.href).href);
}

/**
 * Lets one more script pass: a path of this page's own origin, or a blob that the client made.
 *
 * @param {string | URL} address
 */
export function passScript(address) {
  const url = new URL(address, location.href);
  if (url.origin === location.origin) passed.add(url.href);
}

/** @param {any} types */
function madePolicy(types) {
  try {
    return types.createPolicy(POLICY, { createScriptURL: checked });
  } catch (cause) {
    throw new WasmLoadError(`the page's Content-Security-Policy has to allow "trusted-types ${POLICY}"`, { cause });
  }
}

/** @param {string} address */
function checked(address) {
  if (passed.has(address)) return address;
  throw new TypeError("this address is not one of Holdfast's scripts");
}
