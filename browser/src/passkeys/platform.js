/** Detects this browser's passkey features, and sends signals to its password manager. */

import { ownAddress } from "../http/service.js";

/**
 * @returns {Promise<import("../generated/types.js").DeviceCapabilities>}
 */
export async function getDeviceCapabilities() {
  const supported = typeof PublicKeyCredential !== "undefined" && Boolean(navigator.credentials);
  return {
    webAuthnSupported: supported,
    platformAuthAvailable: supported && (await holds("isUserVerifyingPlatformAuthenticatorAvailable")),
    conditionalMediationAvailable: supported && (await holds("isConditionalMediationAvailable")),
  };
}

/**
 * Tells the password manager to stop offering a passkey, because the service does not know it.
 *
 * The signal may delete the passkey, so send it only if the service has reported the passkey as unknown and no
 * registration is unfinished.
 *
 * @param {string} credentialId base64url
 * @param {string} [rpId]
 * @returns {Promise<boolean>} whether this browser supports the signal
 */
export function signalUnknownCredential(credentialId, rpId = defaultRpId()) {
  return signalled("signalUnknownCredential", { rpId, credentialId });
}

/**
 * Tells the password manager the person's current name.
 *
 * @param {{userId: string, name: string, displayName: string, rpId?: string}} details `userId`: the user handle, base64url
 * @returns {Promise<boolean>} whether this browser supports the signal
 */
export function signalCurrentUserDetails({ rpId = defaultRpId(), ...details }) {
  return signalled("signalCurrentUserDetails", { rpId, ...details });
}

/**
 * Tells the password manager which passkeys are registered, so that it removes or hides the person's other passkeys.
 *
 * @param {{userId: string, allAcceptedCredentialIds: string[], rpId?: string}} accepted the complete list, base64url
 * @returns {Promise<boolean>} whether this browser supports the signal
 */
export function signalAllAcceptedCredentials({ rpId = defaultRpId(), ...accepted }) {
  return signalled("signalAllAcceptedCredentials", { rpId, ...accepted });
}

function defaultRpId() {
  return new URL(ownAddress()).hostname;
}

/** @param {"isUserVerifyingPlatformAuthenticatorAvailable" | "isConditionalMediationAvailable"} name */
async function holds(name) {
  try {
    return Boolean(await PublicKeyCredential[name]?.());
  } catch {
    return false;
  }
}

/**
 * @param {string} name
 * @param {object} details
 */
async function signalled(name, details) {
  const signal = /** @type {any} */ (globalThis.PublicKeyCredential)?.[name];
  if (typeof signal !== "function") return false;
  await signal.call(PublicKeyCredential, details);
  return true;
}
