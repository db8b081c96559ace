/** Adds and removes a vault's passkeys. The vault is updated first, then the service, then the password manager. */

import "../core.ts";
import { fromBase64 } from "../bytes.ts";
import type { Client } from "../client.ts";
import { insteadOf, PluginCallError, RequestRefused, ServiceError, WebAuthnError } from "../errors.ts";
import type { Attestation, CreatePasskeyResult, DidRecord } from "../generated/types.ts";
import type { PasskeyOptions } from "../passkeys/create.ts";
import { signalUnknownCredential } from "../passkeys/platform.ts";
import { keyId, passkeyKey } from "../passkeys/use.ts";
import type { Vault } from "../vault/vault.ts";
import { takeBack } from "./person.ts";
import { registerCredential } from "./signature.ts";

/** `attestation`: for an identifier proven by a code, because the service requires a new proof for each passkey */
export type AddOptions = PasskeyOptions & { deviceName?: string; attestation?: Attestation };

/** The passkey opens the vault. `registered`: whether it is registered with the service too; see `registerPasskey` */
export type AddedPasskey = { credentialId: string; credential: string; registered: boolean };

/** @param client its vault is open */
export async function addPasskey(
  client: Client,
  { deviceName = "", attestation, ...options }: AddOptions,
): Promise<AddedPasskey> {
  const type = "public-key" as const;
  const { credentials } = await client.vault.query();
  const excludeCredentials = credentials.map((it) => ({ id: fromBase64(it.credential_id), type }));
  const passkey = await client.createPasskey({ excludeCredentials, ...options });
  await keep(client, passkey, deviceName);
  const registered = registerPasskey(client, passkey.credentialId, { attestation });
  return { ...passkey, registered: await registered.catch(insteadOf(ServiceError, false)) };
}

/**
 * Registers a passkey of the vault with the service, under the identifier of the vault's other passkeys.
 * @param client its vault is open
 * @param credentialId base64url
 * @param proof for an identifier proven by a code
 * @returns false: nothing was sent, because the vault is not registered with the service, or because its identifier
 *   must be proven by a code and `attestation` is absent
 * @throws {RequestRefused} the service refuses; `code` says why
 */
export async function registerPasskey(
  client: Client,
  credentialId: string,
  { attestation }: { attestation?: Attestation } = {},
): Promise<boolean> {
  const known = await recordOf(client);
  if (!known || (known.channel !== "handle" && !attestation)) return false;
  try {
    await registerCredential(client, credentialId, { ...known, attestation });
  } catch (error) {
    // The response to an earlier attempt was lost: the passkey is already registered.
    if (!(error instanceof RequestRefused) || error.code !== "credential_already_registered") throw error;
    if (!(await recordOf(client, (id) => id === credentialId))) throw error;
  }
  return true;
}

/**
 * Removes a passkey: it no longer opens the vault, the service no longer finds the DID by it, and this browser's
 * password manager no longer offers it. The service keeps the record of the last registered passkey, without which it
 * would delete the vault's snapshots after a time.
 * @param client its vault is open
 * @param credentialId base64url
 * @returns whether the password manager could be notified, and whether the service has removed its record
 * @throws {PluginCallError} `last_wrap`: it is the only key
 */
export async function removePasskey(
  client: Client,
  credentialId: string,
): Promise<{ isNotified: boolean; takenBack: boolean }> {
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
 * @returns whether the service has removed it
 */
async function leftService(client: Client, credentialId: string): Promise<boolean> {
  const other = await recordOf(client, (id) => id !== credentialId);
  return other !== null && (await takeBack(client, { credentialId })).credentials > 0;
}

async function keep(client: Client, passkey: CreatePasskeyResult, deviceName: string) {
  try {
    const key = await passkeyKey(passkey, { rpId: client.rpId });
    // Recorded first: a passkey that opens the vault without a record would not be listed, and could not be removed.
    await recordPasskey(client.vault, passkey, deviceName);
    await client.vault.addKey(key).catch(async (error) => {
      await client.vault.exec("resource:credentials action:delete", { credential_id: passkey.credentialId });
      throw error;
    });
  } catch (error) {
    // Without PRF, the passkey opens nothing and is registered nowhere, so the password manager should not offer it.
    if (error instanceof WebAuthnError && error.reason === "no_prf")
      await signalUnknownCredential(passkey.credentialId, client.rpId).catch(() => false);
    throw error;
  }
}

/** Records a passkey in the vault; it opens nothing yet. */
export async function recordPasskey(vault: Vault, { credential, credentialId }: CreatePasskeyResult, name: string) {
  const { parsed } = await vault.parse(credential);
  const made = await vault.exec("resource:credentials action:create", {
    credential_id: credentialId,
    device_name: name,
    device_type: parsed.attachment ?? "platform",
    authenticator: String(parsed.aaguid).replaceAll("-", ""),
    transports: parsed.transports,
    public_key: parsed.cose_key,
  });
  if (!made.success) throw new PluginCallError("exec", "the passkey was not recorded", made.error ?? null);
}

/** Returns the service's record for the first wanted passkey of the vault that is registered for its DID. */
async function recordOf(client: Client, isWanted = (_id: string) => true): Promise<DidRecord | null> {
  const { did, credentials } = await client.vault.query();
  for (const credentialId of credentials.map((it) => it.credential_id).filter(isWanted)) {
    const found = await client.lookupDid({ credentialId });
    if (found.found && found.did === did) return found; // others may have registered an ID of the vault's
  }
  return null;
}
