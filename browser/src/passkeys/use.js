/** Uses passkeys: with a prompt, or by waiting for the browser's autofill. */

import { fromBase64, randomBytes, toBase64url } from "../bytes.js";
import { WebAuthnError } from "../errors.js";
import { ownAddress } from "../http/service.js";
import { ceremony } from "./ceremony.js";
import { DEFAULT_TIMEOUT_MS, serialised } from "./create.js";
import { keepSecret, prfExtension, takeKey, takeResult, withoutPrf } from "./secrets.js";

/** The maximum length of a key's name in a sealed vault, in characters (docs/formats.md). */
const LONGEST_ID = 128;

/**
 * @typedef {object} UseOptions
 * @property {string} [rpId] by default the service's host
 * @property {string[]} [credentialIds] base64url; by default any passkey of this relying party
 * @property {BufferSource} [challenge] by default 32 random bytes
 * @property {"conditional" | "optional"} [mediation] "conditional": waits for the browser's autofill
 * @property {string[]} [hints]
 * @property {number} [timeout] milliseconds; 60000 by default
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} UsedPasskey
 * @property {string} credentialId base64url
 * @property {string | null} userHandle base64url
 * @property {string} assertion base64 of the assertion's JSON, without any secret
 * @property {"platform" | "cross-platform" | null} attachment which kind of authenticator was used
 * @property {boolean} hasKey whether `passkeyKey` returns a vault key without another prompt
 */

/**
 * Requests an assertion with user verification, because the authenticator's PRF secret differs without it.
 *
 * @param {UseOptions} [options]
 * @returns {Promise<UsedPasskey>}
 * @throws {WebAuthnError}
 */
export async function usePasskey(options = {}) {
  const timeout = options.timeout ?? DEFAULT_TIMEOUT_MS;
  const conditional = options.mediation === "conditional";
  // Autofill waits until the person uses the field, so no timeout applies.
  const run = (/** @type {AbortSignal} */ signal) => got(options, timeout, signal);
  const used = await ceremony({ timeout: conditional ? Infinity : timeout, signal: options.signal, conditional, run });
  const secret = takeResult(used.getClientExtensionResults());
  const { userHandle } = /** @type {AuthenticatorAssertionResponse} */ (used.response);
  const result = {
    credentialId: used.id,
    userHandle: userHandle ? toBase64url(userHandle) : null,
    assertion: serialised(used),
    attachment: /** @type {any} */ (used).authenticatorAttachment ?? null,
    hasKey: secret !== null,
  };
  keepSecret(result, used.id, secret);
  return result;
}

/**
 * Returns the key that opens a vault, from the result of `createPasskey` or `usePasskey`. If creating the passkey
 * returned no PRF secret, as in Firefox, the person is prompted once more.
 *
 * @param {import("./create.js").CreatePasskeyResult | UsedPasskey} passkey
 * @param {UseOptions} [options] for that second prompt
 * @returns {Promise<import("./secrets.js").VaultKey>} works only once
 * @throws {WebAuthnError} `reason` "no_prf": the passkey cannot open a vault; a password is needed
 */
export async function passkeyKey(passkey, options = {}) {
  const key = takeKey(passkey) ?? takeKey(await usePasskey({ ...options, credentialIds: [passkey.credentialId] }));
  if (!key) throw withoutPrf();
  return { ...key, id: await keyId(passkey.credentialId) };
}

/**
 * Returns the name of a passkey's key among the vault's keys: its credential ID or, if that is too long, `sha256:` and
 * the hash of the ID.
 *
 * @param {string} credentialId base64url
 * @returns {Promise<string>}
 */
export async function keyId(credentialId) {
  if (credentialId.length <= LONGEST_ID) return credentialId;
  return `sha256:${toBase64url(await crypto.subtle.digest("SHA-256", fromBase64(credentialId)))}`;
}

/**
 * @param {UseOptions} options
 * @param {number} timeout
 * @param {AbortSignal} signal
 * @returns {Promise<PublicKeyCredential>}
 */
async function got(options, timeout, signal) {
  const publicKey = requestOptions(options, timeout);
  const mediation = /** @type {CredentialMediationRequirement} */ (options.mediation ?? "optional");
  const used = await navigator.credentials.get({ publicKey, signal, mediation });
  if (!used) throw new WebAuthnError("the browser returned no passkey", "failed");
  return /** @type {PublicKeyCredential} */ (used);
}

/**
 * @param {UseOptions} options
 * @param {number} timeout
 * @returns {PublicKeyCredentialRequestOptions}
 */
function requestOptions(options, timeout) {
  return /** @type {PublicKeyCredentialRequestOptions} */ ({
    challenge: options.challenge ?? randomBytes(32),
    rpId: options.rpId ?? new URL(ownAddress()).hostname,
    allowCredentials: (options.credentialIds ?? []).map((id) => ({ type: "public-key", id: fromBase64(id) })),
    userVerification: "required",
    timeout,
    extensions: prfExtension(),
    ...(options.hints && { hints: options.hints }),
  });
}
