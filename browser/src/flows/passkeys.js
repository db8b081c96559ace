/** Adds and removes a vault's passkeys. The vault is updated first, then the service, then the password manager. */

import "../core.js";
import { fromBase64 } from "../bytes.js";
import { PluginCallError, RequestRefused, WebAuthnError } from "../errors.js";
import { signalUnknownCredential } from "../passkeys/platform.js";
import { keyId, passkeyKey } from "../passkeys/use.js";
import { takeBack } from "./person.js";
import { registerCredential } from "./signature.js";

/**
 * @import {Client} from "../client.js"
 * @import {Attestation, CreatePasskeyResult, DidRecord} from "../generated/types.js"
 * @typedef {import("../passkeys/create.js").PasskeyOptions & {deviceName?: string,
 *   attestation?: Attestation}} AddOptions `attestation`: for an identifier proven
 *   by a code, because the service requires a new proof for each passkey
 * @typedef {{credentialId: string, credential: string, registered: boolean}} AddedPasskey `registered`: whether it is
 *   registered with the service too
 */

/** @param {Client} client its vault is open @param {AddOptions} options @returns {Promise<AddedPasskey>} */
export async function addPasskey(client, { deviceName = "", attestation, ...options }) {
  const type = /** @type {const} */ ("public-key");
  const excludeCredentials = (await credentialsOf(client)).map((id) => ({ id: fromBase64(id), type }));
  const passkey = await client.createPasskey({ excludeCredentials, ...options });
  await keep(client, passkey, deviceName);
  return { ...passkey, registered: await registerPasskey(client, passkey.credentialId, { attestation }) };
}

/**
 * Registers a passkey of the vault with the service, under the identifier of the vault's other passkeys.
 * @param {Client} client its vault is open
 * @param {string} credentialId base64url
 * @param {{attestation?: Attestation}} [proof] for an identifier proven by a code
 * @returns {Promise<boolean>} false: nothing was sent, because the vault is not registered with the service, or because
 *   its identifier must be proven by a code and `attestation` is absent
 * @throws {RequestRefused} the service refuses; `code` says why
 */
export async function registerPasskey(client, credentialId, { attestation } = {}) {
  const known = await recordOf(client, await credentialsOf(client));
  if (!known || (known.channel !== "handle" && !attestation)) return false;
  try {
    await registerCredential(client, credentialId, { ...known, attestation });
  } catch (error) {
    // The response to an earlier attempt was lost: the passkey is already registered.
    if (!(error instanceof RequestRefused) || error.code !== "credential_already_registered") throw error;
    if ((await recordOf(client, [credentialId]))?.did !== known.did) throw error;
  }
  return true;
}

/**
 * Removes a passkey: it no longer opens the vault, the service no longer finds the DID by it, and this browser's password
 * manager no longer offers it. The service keeps the record of the last registered passkey, without which it would delete
 * the vault's snapshots after a time.
 * @param {Client} client its vault is open
 * @param {string} credentialId base64url
 * @returns {Promise<{isNotified: boolean, takenBack: boolean}>} whether the password manager could be notified, and whether
 *   the service has removed its record
 * @throws {PluginCallError} `last_wrap`: it is the only key
 */
export async function removePasskey(client, credentialId) {
  await client.vault.removeKey("prf", await keyId(credentialId));
  await client.vault.exec("resource:credentials action:delete", { credential_id: credentialId });
  const [takenBack, isNotified] = await Promise.all([
    leftService(client, credentialId).catch(() => false),
    signalUnknownCredential(credentialId, client.rpId).catch(() => false),
  ]);
  return { isNotified, takenBack };
}

/**
 * Takes a passkey's registration back if another passkey of the vault is registered.
 * @param {Client} client @param {string} credentialId
 * @returns {Promise<boolean>} whether the service has removed it
 */
async function leftService(client, credentialId) {
  const others = (await credentialsOf(client)).filter((id) => id !== credentialId);
  return (await recordOf(client, others)) !== null && (await takeBack(client, { credentialId })).credentials > 0;
}

/** @param {Client} client @param {CreatePasskeyResult} passkey @param {string} deviceName */
async function keep(client, passkey, deviceName) {
  try {
    await client.vault.addKey(await passkeyKey(passkey, { rpId: client.rpId }));
    await recordPasskey(client.vault, passkey, deviceName);
  } catch (error) {
    // Without PRF, the passkey opens nothing and is not registered anywhere, so the password manager should not offer
    // it.
    if (error instanceof WebAuthnError && error.reason === "no_prf")
      await signalUnknownCredential(passkey.credentialId, client.rpId).catch(() => false);
    throw error;
  }
}

/**
 * Records a passkey in the vault; it opens nothing yet.
 * @param {import("../vault/vault.js").Vault} vault @param {CreatePasskeyResult} passkey @param {string} deviceName
 */
export async function recordPasskey(vault, { credential, credentialId }, deviceName) {
  const { parsed } = await vault.parse(credential);
  const made = await vault.exec("resource:credentials action:create", {
    credential_id: credentialId,
    device_name: deviceName,
    device_type: parsed.attachment ?? "platform",
    authenticator: parsed.aaguid.replaceAll("-", ""),
    transports: parsed.transports,
    public_key: parsed.cose_key,
  });
  if (!made.success) throw new PluginCallError("exec", "the passkey was not recorded", made.error ?? null);
}

/** @param {Client} client @returns {Promise<string[]>} the IDs of the passkeys that the vault records */
async function credentialsOf({ vault }) {
  return (await vault.query()).credentials.map((it) => it.credential_id);
}

/**
 * Returns the service's record for the first of these credentials that is registered.
 * @param {Client} client @param {string[]} credentialIds @returns {Promise<DidRecord | null>}
 */
async function recordOf(client, credentialIds) {
  for (const credentialId of credentialIds) {
    const found = await client.lookupDid({ credentialId });
    if (found.found) return /** @type {DidRecord} */ (found);
  }
  return null;
}
