/** One more passkey for the open vault. */

import { passkeyKey } from "../library.js";
import { setVaultOf } from "../parts/notes.js";
import { Told } from "../parts/problems.js";
import { described } from "../parts/providers.js";
import { ready } from "../parts/vault_client.js";
import { fromBase64url } from "./values.js";

/**
 * Makes a passkey that opens the vault. A passkey that gives no secret is not kept.
 *
 * @param {{userName: string} & Record<string, any>} options of the ceremony
 */
export async function addPasskey(options) {
  const client = await ready();
  const { vault } = client;
  const { did, credentials } = await vault.query();
  const excludeCredentials = credentials.map((it) => ({ type: /** @type {"public-key"} */ ("public-key"), id: fromBase64url(it.credential_id) }));
  const made = await client.createPasskey({ excludeCredentials, ...options });
  const about = await described(made.credential);
  await vault.addKey(await passkeyKey(made));
  const created = await vault.exec("resource:credentials action:create", {
    credential_id: made.credentialId,
    device_name: about.name,
    device_type: options.authenticatorAttachment ?? "platform",
    authenticator: about.aaguid,
    transports: about.transports,
  });
  if (!created.success) throw new Told("problem.unknown", { reason: created.error ?? "credentials" });
  await setVaultOf(made.credentialId, { did, synced: about.synced });
}
