/** A vault's passkeys: one more, one fewer. Vault, service and password manager are told in this order. */

import { fromBase64 } from "../bytes.js";
import { PluginCallError, WebAuthnError } from "../errors.js";
import { signalUnknownCredential } from "../passkeys/platform.js";
import { keyId, passkeyKey } from "../passkeys/use.js";

/**
 * @typedef {import("../client.js").Client} Client
 * @typedef {import("../passkeys/create.js").PasskeyOptions & {deviceName?: string,
 *   attestation?: import("../generated/types.js").Attestation}} AddOptions `attestation`: for an identifier that was
 *   proven by a code, which the service wants again for each passkey
 * @typedef {{credentialId: string, registered: boolean}} AddedPasskey `registered`: whether the service knows it too
 */

/**
 * @param {Client} client its vault is open
 * @param {AddOptions} options
 * @returns {Promise<AddedPasskey>}
 */
export async function addPasskey(client, { deviceName = "", attestation, ...options }) {
  const { credentials } = await client.vault.query();
  const excludeCredentials = credentials.map(({ credential_id: id }) => ({ id: fromBase64(id), type: /** @type {const} */ ("public-key") }));
  const passkey = await client.createPasskey({ excludeCredentials, ...options });
  await keep(client, passkey, deviceName);
  const known = credentials.length > 0 ? await recordOf(client, credentials.map((it) => it.credential_id)) : null;
  const registered = known !== null && (known.channel === "handle" || attestation !== undefined);
  if (registered) await client.registerDid({ ...registrationOf(known), credentialId: passkey.credentialId, ...(attestation && { attestation }) });
  return { credentialId: passkey.credentialId, registered };
}

/**
 * Takes a passkey away: it opens the vault no more, and this browser's password manager offers it no more. The service
 * keeps the record that leads from it to the DID.
 *
 * @param {Client} client its vault is open
 * @param {string} credentialId base64url
 * @returns {Promise<{told: boolean}>} whether the password manager could be told
 * @throws {PluginCallError} `last_wrap`: it is the only key
 */
export async function removePasskey(client, credentialId) {
  await client.vault.removeKey("prf", await keyId(credentialId));
  await client.vault.exec("resource:credentials action:delete", { credential_id: credentialId });
  return { told: await signalUnknownCredential(credentialId, client.rpId).catch(() => false) };
}

/**
 * @param {Client} client
 * @param {import("../generated/types.js").CreatePasskeyResult} passkey
 * @param {string} deviceName
 */
async function keep(client, passkey, deviceName) {
  try {
    await client.vault.addKey(await passkeyKey(passkey, { rpId: client.rpId }));
    await record(client, passkey, deviceName);
  } catch (error) {
    // It opens nothing and no one knows it: the password manager need not offer it.
    if (error instanceof WebAuthnError && error.reason === "no_prf") await signalUnknownCredential(passkey.credentialId, client.rpId).catch(() => false);
    throw error;
  }
}

/**
 * @param {Client} client
 * @param {import("../generated/types.js").CreatePasskeyResult} passkey
 * @param {string} deviceName
 */
async function record(client, { credential, credentialId }, deviceName) {
  const { parsed } = await client.vault.parse(credential);
  const made = await client.vault.exec("resource:credentials action:create", {
    credential_id: credentialId,
    device_name: deviceName,
    device_type: parsed.attachment ?? "platform",
    authenticator: parsed.aaguid.replaceAll("-", ""),
    transports: parsed.transports,
    public_key: parsed.cose_key,
  });
  if (!made.success) throw new PluginCallError("exec", "the passkey was not recorded", made.error ?? null);
}

/**
 * The service's record of the first of these credentials that it knows.
 *
 * @param {Client} client
 * @param {string[]} credentialIds
 * @returns {Promise<import("../generated/types.js").DidRecord | null>}
 */
async function recordOf(client, credentialIds) {
  for (const credentialId of credentialIds) {
    const found = await client.lookupDid({ credentialId });
    if (found.found) return /** @type {import("../generated/types.js").DidRecord} */ (found);
  }
  return null;
}

/** @param {import("../generated/types.js").DidRecord} record */
function registrationOf({ identifier, channel, did, txHash, blockNumber, smartAccount }) {
  return { identifier, channel, did, txHash, ...(blockNumber && { blockNumber }), ...(smartAccount && { smartAccount }) };
}
