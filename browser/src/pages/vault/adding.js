/** One more passkey for the open vault, and its registration at the service. */

import { text } from "../parts/language.js";
import { setVaultOf } from "../parts/notes.js";
import { copiesOf, newPasskeyName } from "../parts/providers.js";
import { go } from "../parts/router.js";
import { ready } from "../parts/vault_client.js";

/**
 * Makes a passkey that opens the vault. One that gives no secret is not kept.
 *
 * @param {{userName: string} & Record<string, any>} options of the ceremony
 * @returns {Promise<{credentialId: string, registered: boolean}>}
 */
export async function addPasskey(options) {
  const client = await ready();
  const { did } = await client.vault.query();
  const added = await client.addPasskey({ deviceName: newPasskeyName(), ...options });
  await setVaultOf(added.credentialId, { did, copies: await copiesOf(added.credential) });
  return added;
}

/**
 * Asks for the code that the service wants before it registers a passkey of an e-mail address or phone number.
 *
 * @param {string} credentialId
 * @param {import("../library.js").DidRecord} record of the vault's other passkeys
 */
export function proveFor(credentialId, { identifier, channel }) {
  return go("prove", { identifier, channel, passkey: credentialId });
}

/**
 * The address is proven: registers the passkey.
 *
 * @param {import("../register/prove.js").Proving} row
 */
export async function passkeyProven({ passkey = "", attestation }) {
  await (await ready()).registerPasskey(passkey, { attestation });
  await go("home", { said: text("passkeys.registered") });
}
