/** Which key of an account's owners a passkey is: its signature shows that, so nothing about it need be stored. */

import { fromBase64, fromHex } from "../bytes.js";
import { signatureIn } from "../chain/assertions.js";
import { OperationFailed } from "../chain/errors.js";
import { hasExpired } from "../chain/owners.js";
import { usePasskey } from "./use.js";

/** @typedef {(fn: string, args: {digest: Uint8Array<ArrayBuffer>, signature: string}) => any} CallEnclave no vault need be open */

/**
 * Uses a passkey once, and returns it as the owner that it is.
 *
 * @param {{signer: string, expiry: number}[]} owners `signer`: 0x-hex; `expiry`: Unix time, 0 for never
 * @param {import("./use.js").UseOptions} options which passkey, and of which site
 * @param {CallEnclave} call
 * @returns {Promise<{signer: string, sign: (hash: string) => Promise<string>}>} `sign` asks for it again
 * @throws {OperationFailed} it is not an owner, or its time is over
 * @throws {import("../errors.js").WebAuthnError}
 */
export async function passkeyAmong(owners, options, call) {
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
 * @param {string} assertion base64 of its JSON
 * @param {CallEnclave} call
 * @returns {Promise<string[]>} 0x-hex
 */
export async function signersIn(assertion, call) {
  const { response } = JSON.parse(new TextDecoder().decode(fromBase64(assertion)));
  const client = await crypto.subtle.digest("SHA-256", fromBase64(response.clientDataJSON));
  const signed = new Uint8Array([...fromBase64(response.authenticatorData), ...new Uint8Array(client)]);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", signed));
  const signature = signatureIn(assertion).slice(0, 2 + 128); // r and s come first
  const { public_keys: keys } = await call("recover_public_keys", { digest, signature });
  return keys.map((/** @type {string} */ key) => `0x${key.slice(2)}`);
}
