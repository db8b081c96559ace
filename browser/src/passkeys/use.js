/** Using a passkey: by a prompt, or waiting for the browser's autofill. */

import { fromBase64, randomBytes, toBase64url } from "../bytes.js";
import { WebAuthnError } from "../errors.js";
import { ownAddress } from "../http/service.js";
import { ceremony } from "./ceremony.js";
import { DEFAULT_TIMEOUT_MS, serialised } from "./create.js";
import { keepSecret, prfExtension, takeKey, takeResult, withoutPrf } from "./secrets.js";

/** Characters that a sealed vault has for a key's name (docs/formats.md). */
const LONGEST_ID = 128;

/**
 * @typedef {object} UseOptions
 * @property {string} [rpId] by default the service's host
 * @property {string[]} [credentialIds] base64url; any of this relying party's unless given
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
 * @property {"platform" | "cross-platform" | null} attachment which kind of authenticator answered
 * @property {boolean} hasKey whether `passkeyKey` gives a vault key
 */

/**
 * Asks for an assertion; with user verification always, since an authenticator's secret without it is another one.
 *
 * @param {UseOptions} [options]
 * @returns {Promise<UsedPasskey>}
 * @throws {WebAuthnError}
 */
export async function usePasskey(options = {}) {
  const timeout = options.timeout ?? DEFAULT_TIMEOUT_MS;
  const conditional = options.mediation === "conditional";
  // Autofill waits until a field is used; only then a timeout would be the prompt's.
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
 * The key that opens a vault, from what `createPasskey` or `usePasskey` returned. Where making the passkey gave no
 * secret yet, as in Firefox, the person is asked once more.
 *
 * @param {import("./create.js").CreatePasskeyResult | UsedPasskey} passkey
 * @param {UseOptions} [options] of that second prompt
 * @returns {Promise<import("./secrets.js").VaultKey>} it serves once
 * @throws {WebAuthnError} `reason` "no_prf": the passkey cannot open a vault, a password has to
 */
export async function passkeyKey(passkey, options = {}) {
  const key = takeKey(passkey) ?? takeKey(await usePasskey({ ...options, credentialIds: [passkey.credentialId] }));
  if (!key) throw withoutPrf();
  return { ...key, id: await keyId(passkey.credentialId) };
}

/**
 * The name under which a passkey's key stands among the vault's keys: its credential ID, or, of one that is too long
 * for that, `sha256:` and the hash of the ID.
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
  if (!used) throw new WebAuthnError("the browser gave no passkey", "failed");
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
