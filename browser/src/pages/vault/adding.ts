/** Adds another passkey to the open vault, and registers it with the service. */

import type { AddOptions } from "../../flows/passkeys.ts";
import type { DidRecord } from "../../generated/types.ts";
import { text } from "../parts/language.ts";
import { setVaultOf } from "../parts/notes.ts";
import { copiesOf, newPasskeyName } from "../parts/providers.ts";
import { go } from "../parts/router.ts";
import { SERVICE } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import type { Proving } from "../register/prove.ts";

/** Ceremony options for a passkey on a phone or security key, because the device in use often has one already. */
export const ELSEWHERE = {
  hints: ["hybrid", "security-key"],
  authenticatorAttachment: "cross-platform" as const,
};

/**
 * Creates a passkey that opens the vault. A passkey that returns no PRF secret is discarded.
 *
 * @param options of the ceremony
 */
export async function addPasskey(
  options: AddOptions & { userName: string },
): Promise<{ credentialId: string; registered: boolean }> {
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
 * @param record of the vault's other passkeys
 */
export function proveFor(credentialId: string, { identifier, channel }: DidRecord) {
  return go("prove", { identifier, channel: channel as Proving["channel"], passkey: credentialId });
}

/** Registers the passkey after the person has proven the e-mail address or phone number. */
export async function passkeyProven({ passkey = "", attestation }: Proving) {
  await (await ready()).registerPasskey(passkey, { attestation });
  await go("home", { said: text("passkeys.registered") });
}
