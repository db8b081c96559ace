/**
 * Creates script addresses under Trusted Types, with a policy `hf` that accepts only the scripts that this module
 * lists.
 */

import { WasmLoadError } from "./errors.ts";

const POLICY = "hf";

/** a string, a URL, or an application's own TrustedScriptURL */
export type ScriptAddress = string | { toString(): string };

type Policy = { createScriptURL: (address: string) => string };

/** what browsers with Trusted Types have, and the compiler does not declare */
type TrustedTypes = {
  isScriptURL: (value: unknown) => boolean;
  createPolicy: (name: string, rules: Policy) => Policy;
};

/** The address of the worker that is stored next to this module. */
export const workerAddress = new URL("./worker.js", import.meta.url).href;
/** The addresses that the policy accepts: the worker's, and those added by `passScript`. */
const passed = new Set([workerAddress]);
let policy: Policy | null = null;

/**
 * Returns a script's address in a form that `new Worker` and `serviceWorker.register` accept even under Trusted Types.
 *
 * @param address one that the policy accepts, or a TrustedScriptURL
 * @returns typed as a string, but a TrustedScriptURL if the browser has them
 * @throws {WasmLoadError} the page's Content-Security-Policy does not allow the policy `hf`
 */
export function scriptAddress(address: ScriptAddress): string {
  const { trustedTypes: types } = globalThis as { trustedTypes?: TrustedTypes };
  if (!types || types.isScriptURL(address)) return address as unknown as string;
  policy ??= madePolicy(types);
  return policy.createScriptURL(new URL(String(address), globalThis.location?.href).href);
}

/** Makes the policy accept a script from this page's own origin, or a blob that the client created. */
export function passScript(address: string | URL) {
  const url = new URL(address, location.href);
  if (url.origin === location.origin) passed.add(url.href);
}

function madePolicy(types: TrustedTypes) {
  try {
    return types.createPolicy(POLICY, { createScriptURL: checked });
  } catch (cause) {
    throw new WasmLoadError(`the page's Content-Security-Policy has to allow "trusted-types ${POLICY}"`, { cause });
  }
}

function checked(address: string) {
  if (passed.has(address)) return address;
  throw new TypeError("this address is not one of Holdfast's scripts");
}
