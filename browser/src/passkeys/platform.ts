/** Detects this browser's passkey features, and sends signals to its password manager. */

import type { DeviceCapabilities } from "../generated/types.ts";
import { ownAddress } from "../http/service.ts";

export async function getDeviceCapabilities(): Promise<DeviceCapabilities> {
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
 * @param credentialId base64url
 * @returns whether this browser supports the signal
 */
export function signalUnknownCredential(credentialId: string, rpId: string = defaultRpId()): Promise<boolean> {
  return signalled("signalUnknownCredential", { rpId, credentialId });
}

/**
 * Tells the password manager the person's current name.
 *
 * @param details `userId`: the user handle, base64url
 * @returns whether this browser supports the signal
 */
export function signalCurrentUserDetails({
  rpId = defaultRpId(),
  ...details
}: {
  userId: string;
  name: string;
  displayName: string;
  rpId?: string;
}): Promise<boolean> {
  return signalled("signalCurrentUserDetails", { rpId, ...details });
}

/**
 * Tells the password manager which passkeys are registered, so that it removes or hides the person's other passkeys.
 *
 * @param accepted the complete list, base64url
 * @returns whether this browser supports the signal
 */
export function signalAllAcceptedCredentials({
  rpId = defaultRpId(),
  ...accepted
}: {
  userId: string;
  allAcceptedCredentialIds: string[];
  rpId?: string;
}): Promise<boolean> {
  return signalled("signalAllAcceptedCredentials", { rpId, ...accepted });
}

function defaultRpId() {
  return new URL(ownAddress()).hostname;
}

async function holds(name: "isUserVerifyingPlatformAuthenticatorAvailable" | "isConditionalMediationAvailable") {
  try {
    return Boolean(await PublicKeyCredential[name]?.());
  } catch {
    return false;
  }
}

/** signals by name; not every browser has them */
type Signals = Record<string, ((details: object) => Promise<void>) | undefined>;

async function signalled(name: string, details: object) {
  const signal = (globalThis.PublicKeyCredential as unknown as Signals | undefined)?.[name];
  if (typeof signal !== "function") return false;
  await signal.call(PublicKeyCredential, details);
  return true;
}
