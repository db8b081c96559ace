/** Holds the vault key that a passkey's PRF returns, and releases it only once, to be sent to the worker. */

import { WebAuthnError } from "../errors.ts";
import { bytesOf } from "../bytes.ts";

/** The PRF input from which every vault key is derived (WebAuthn Level 3, section 10.1.4), as in the Python client. */
const PRF_INPUT = new TextEncoder().encode("holdfast/vault-key/v1");
const PRF_BYTES = 32;

/**
 * A key that opens a vault. `secret` is transferred to the worker, which empties its buffer, so each key works only
 * once.
 */
export type VaultKey =
  | { kind: "prf"; id: string; secret: ArrayBuffer }
  | { kind: "password"; id?: string; password: string }
  | { kind: "secret"; id?: string; secret: ArrayBuffer | Uint8Array<ArrayBuffer> };

const cached: WeakMap<object, { id: string; secret: ArrayBuffer }> = new WeakMap();

/** Returns the PRF extension's input, always with `eval`, because an empty `prf` fails on some systems. */
export function prfExtension() {
  return { prf: { eval: { first: PRF_INPUT } } };
}

/**
 * Removes the PRF output from a ceremony's extension results, so that it cannot be sent along with the credential.
 *
 * @param results `getClientExtensionResults()`
 * @returns a separate copy of 32 bytes
 */
export function takeResult(results: AuthenticationExtensionsClientOutputs): ArrayBuffer | null {
  const first = results?.prf?.results?.first;
  if (!first) return null;
  const bytes = bytesOf(first);
  const copy = bytes.slice().buffer;
  bytes.fill(0);
  return copy.byteLength === PRF_BYTES ? copy : null;
}

/**
 * Stores a secret, which only code that has the ceremony's result can retrieve.
 *
 * @param id of the credential
 */
export function keepSecret(holder: object, id: string, secret: ArrayBuffer | null) {
  if (secret) cached.set(holder, { id, secret });
}

/**
 * Returns the vault key for a ceremony's result. A second call returns null.
 *
 * @param holder what `createPasskey` or `usePasskey` returned
 * @returns null if the ceremony returned no PRF output, or the key was returned before
 */
export function takeKey(holder: object): VaultKey | null {
  const found = cached.get(holder);
  cached.delete(holder);
  return found ? { kind: "prf", ...found } : null;
}

export function withoutPrf(): WebAuthnError {
  return new WebAuthnError(
    "this passkey returns no secret (PRF): protect the vault with a password, or use another passkey",
    "no_prf",
  );
}
