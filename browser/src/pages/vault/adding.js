/** Adds another passkey to the open vault, and registers it with the service. */

import { text } from "../parts/language.js";
import { setVaultOf } from "../parts/notes.js";
import { copiesOf, newPasskeyName } from "../parts/providers.js";
import { go } from "../parts/router.js";
import { SERVICE } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";

/** Ceremony options for a passkey on a phone or security key, because the device in use often has one already. */
export const ELSEWHERE = {
  hints: ["hybrid", "security-key"],
  authenticatorAttachment: /** @type {const} */ ("cross-platform"),
};

/**
 * Creates a passkey that opens the vault. A passkey that returns no PRF secret is discarded.
 *
 * @param {{userName: string} & Record<string, any>} options of the ceremony
 * @returns {Promise<{credentialId: string, registered: boolean}>}
 */
export async function addPasskey(options) {
  const client = await ready();
  const { did } = await client.vault.query();
  const added = await client.addPasskey({
    rpName: SERVICE,
    deviceName: newPasskeyName(options.authenticatorAttachment === ELSEWHERE.authenticatorAttachment),
    ...options,
  });
  await setVaultOf(added.credentialId, { did, copies: await copiesOf(added.credential) });
  return added;
}

/**
 * Asks for the code that the service requires before it registers a passkey for an e-mail address or phone number.
 *
 * @param {string} credentialId
 * @param {import("../library.js").DidRecord} record of the vault's other passkeys
 */
export function proveFor(credentialId, { identifier, channel }) {
  return go("prove", { identifier, channel, passkey: credentialId });
}

/**
 * Registers the passkey after the person has proven the e-mail address or phone number.
 *
 * @param {import("../register/prove.js").Proving} row
 */
export async function passkeyProven({ passkey = "", attestation }) {
  await (await ready()).registerPasskey(passkey, { attestation });
  await go("home", { said: text("passkeys.registered") });
}
