/** Which key of an account's owners a passkey is: its signature shows that, so nothing about it need be stored. */

import { fromBase64, fromHex } from "../bytes.ts";
import { responseIn, signatureIn } from "../chain/assertions.ts";
import { OperationFailed } from "../chain/errors.ts";
import { hasExpired } from "../chain/owners.ts";
import { type UseOptions, usePasskey } from "./use.ts";
import type { Answer } from "../enclave-answers.ts";

/** no vault need be open */
export type CallEnclave = (
  fn: "recover_public_keys",
  args: { digest: Uint8Array<ArrayBuffer>; signature: string },
) => Answer<"recover_public_keys"> | Promise<Answer<"recover_public_keys">>;

/**
 * Uses a passkey once, and returns it as the owner that it is.
 *
 * @param owners `signer`: 0x-hex; `expiry`: Unix time, 0 for never
 * @param options which passkey, and of which site
 * @returns `sign` asks for it again
 * @throws {OperationFailed} it is not an owner, or its time is over
 * @throws {WebAuthnError}
 */
export async function passkeyAmong(
  owners: { signer: string; expiry: number }[],
  options: UseOptions,
  call: CallEnclave,
): Promise<{ signer: string; sign: (hash: string) => Promise<string> }> {
  const { credentialId, assertion } = await usePasskey(options);
  const shown = await signersIn(assertion, call);
  const { signer } = owners.find((it) => shown.includes(it.signer.toLowerCase()) && !hasExpired(it)) ?? {};
  if (!signer) throw new OperationFailed("that passkey is not an owner of the account now: choose another one");
  const again = { ...options, credentialIds: [credentialId] };
  return {
    signer,
    sign: async (hash) => signatureIn((await usePasskey({ ...again, challenge: fromHex(hash) })).assertion),
  };
}

/**
 * Returns the two P-256 keys of which one made an assertion.
 *
 * @param assertion base64 of its JSON
 * @returns 0x-hex
 */
export async function signersIn(assertion: string, call: CallEnclave): Promise<string[]> {
  const response = responseIn(assertion);
  const client = await crypto.subtle.digest("SHA-256", fromBase64(response.clientDataJSON));
  const signed = new Uint8Array([...fromBase64(response.authenticatorData), ...new Uint8Array(client)]);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", signed));
  const signature = signatureIn(assertion).slice(0, 2 + 128); // r and s come first
  const { public_keys: keys } = await call("recover_public_keys", { digest, signature });
  return keys.map((key) => `0x${key.slice(2)}`);
}
