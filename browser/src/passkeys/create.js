/** Creates passkeys. */

import { randomBytes, toBase64, toBase64url } from "../bytes.js";
import { WebAuthnError } from "../errors.js";
import { ownAddress } from "../http/service.js";
import { ceremony } from "./ceremony.js";
import { keepSecret, prfExtension, takeResult } from "./secrets.js";

/** The relying party's display name and the timeout in milliseconds that the interface sets by default. */
export const DEFAULT_RP_NAME = "Holdfast";
export const DEFAULT_TIMEOUT_MS = 60000;
/** The COSE algorithms that the enclave verifies: ES256, EdDSA and RS256. */
export const ALGORITHMS = [-7, -8, -257];

/**
 * The options that the interface documents, plus some that the pages need.
 *
 * @typedef {import("../generated/types.js").CreatePasskeyOptions & {
 *   userName?: string, userDisplayName?: string, userHandle?: BufferSource,
 *   hints?: string[], authenticatorAttachment?: "platform" | "cross-platform",
 *   algorithms?: number[], signal?: AbortSignal,
 * }} PasskeyOptions `userName`: what the device shows; `userHandle`: at most 64 bytes, by default 32 random ones;
 *   `hints`: "client-device", "security-key", "hybrid", by preference
 * @typedef {import("../generated/types.js").CreatePasskeyResult} CreatePasskeyResult
 */

/**
 * Creates a discoverable passkey with user verification. `passkeyKey(result)` returns its vault key, if it has one.
 *
 * @param {PasskeyOptions} [options]
 * @returns {Promise<CreatePasskeyResult>} `credential`: base64 of the credential's JSON, without any secret
 * @throws {WebAuthnError} `reason` says why
 */
export async function createPasskey(options = {}) {
  const timeout = options.timeout ?? DEFAULT_TIMEOUT_MS;
  const made = await ceremony({ timeout, signal: options.signal, run: (signal) => created(options, timeout, signal) });
  const secret = takeResult(made.getClientExtensionResults());
  checkAlgorithm(made, options.algorithms ?? ALGORITHMS);
  const result = { credential: serialised(made), credentialId: made.id };
  keepSecret(result, made.id, secret);
  return result;
}

/**
 * @param {PasskeyOptions} options
 * @param {number} timeout
 * @param {AbortSignal} signal
 * @returns {Promise<PublicKeyCredential>}
 */
async function created(options, timeout, signal) {
  const started = performance.now();
  try {
    return await requested(options, timeout, signal, prfExtension());
  } catch (error) {
    // Some systems fail whenever PRF is requested, so retry without it within the same time limit.
    const left = timeout - (performance.now() - started);
    if (!(error instanceof DOMException) || error.name !== "UnknownError" || left <= 0) throw error;
    return requested(options, left, signal, {});
  }
}

/**
 * @param {PasskeyOptions} options
 * @param {number} timeout
 * @param {AbortSignal} signal
 * @param {object} extensions
 */
async function requested(options, timeout, signal, extensions) {
  const publicKey = creationOptions(options, timeout, extensions);
  const made = await navigator.credentials.create({ publicKey, signal });
  if (!made) throw new WebAuthnError("the browser created no passkey", "failed");
  return /** @type {PublicKeyCredential} */ (made);
}

/**
 * @param {PasskeyOptions} options
 * @param {number} timeout
 * @param {object} extensions
 * @returns {PublicKeyCredentialCreationOptions}
 */
function creationOptions(options, timeout, extensions) {
  const name = options.userName ?? options.rpName ?? DEFAULT_RP_NAME;
  return /** @type {PublicKeyCredentialCreationOptions} */ ({
    rp: { id: options.rpId ?? new URL(ownAddress()).hostname, name: options.rpName ?? DEFAULT_RP_NAME },
    user: { id: options.userHandle ?? randomBytes(32), name, displayName: options.userDisplayName ?? name },
    challenge: randomBytes(32),
    pubKeyCredParams: (options.algorithms ?? ALGORITHMS).map((alg) => ({ type: "public-key", alg })),
    timeout,
    excludeCredentials: options.excludeCredentials ?? [],
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
      ...(options.authenticatorAttachment && { authenticatorAttachment: options.authenticatorAttachment }),
    },
    attestation: "none",
    extensions,
    ...(options.hints && { hints: options.hints }),
  });
}

/**
 * @param {PublicKeyCredential} made
 * @param {number[]} algorithms
 */
function checkAlgorithm(made, algorithms) {
  const response = /** @type {AuthenticatorAttestationResponse} */ (made.response);
  const algorithm = response.getPublicKeyAlgorithm();
  if (algorithms.includes(algorithm) && ALGORITHMS.includes(algorithm)) return;
  throw new WebAuthnError(
    `the authenticator created a key with another algorithm (${algorithm}): use another one`,
    "no_algorithm",
  );
}

/**
 * Returns the credential in the enclave's form: base64 of its JSON (WebAuthn Level 3, `toJSON`) without extension results.
 *
 * @param {PublicKeyCredential} credential
 * @returns {string}
 */
export function serialised(credential) {
  const { id, rawId, type, authenticatorAttachment, response } = credential;
  const fields = { id, rawId: toBase64url(rawId), type, authenticatorAttachment, clientExtensionResults: {} };
  const json = JSON.stringify({ ...fields, response: responseFields(response) });
  return toBase64(new TextEncoder().encode(json));
}

/** @param {any} response of either ceremony */
function responseFields(response) {
  /** @type {Record<string, unknown>} */
  const fields = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) fields[name] = toBase64url(response[name]);
  }
  if (response.getTransports) fields.transports = response.getTransports();
  return fields;
}
