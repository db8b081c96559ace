/** One more passkey for the open vault. */

import { setVaultOf } from "../parts/notes.js";
import { newPasskeyName } from "../parts/providers.js";
import { ready } from "../parts/vault_client.js";

/**
 * Makes a passkey that opens the vault. One that gives no secret is not kept.
 *
 * @param {{userName: string} & Record<string, any>} options of the ceremony
 */
export async function addPasskey(options) {
  const client = await ready();
  const { did } = await client.vault.query();
  const { credentialId } = await client.addPasskey({ deviceName: newPasskeyName(), ...options });
  await setVaultOf(credentialId, { did, synced: null });
}
