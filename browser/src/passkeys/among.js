/** Which key of an account's owners a passkey is: its signature shows that, so nothing about it need be stored. */

import { fromBase64, fromHex } from "../bytes.js";
import { signatureIn } from "../chain/assertions.js";
import { OperationFailed } from "../chain/errors.js";
import { signersOf } from "../chain/signers.js";
import { usePasskey } from "./use.js";

/**
 * Uses a passkey once, and returns it as the owner that it is.
 *
 * @param {string[]} owners signers in 0x-hex
 * @param {import("./use.js").UseOptions} options which passkey, and of which site
 * @returns {Promise<{signer: string, sign: (hash: string) => Promise<string>}>} `sign` asks for it again
 * @throws {OperationFailed} it is not an owner
 * @throws {import("../errors.js").WebAuthnError}
 */
export async function passkeyAmong(owners, options) {
  const { credentialId, assertion } = await usePasskey(options);
  const shown = await signersIn(assertion);
  const signer = owners.find((it) => shown.includes(it.toLowerCase()));
  if (!signer) throw new OperationFailed("that passkey is not an owner of the account: choose another one");
  const again = { ...options, credentialIds: [credentialId] };
  return {
    signer,
    sign: async (hash) => signatureIn((await usePasskey({ ...again, challenge: fromHex(hash) })).assertion),
  };
}

/**
 * Returns the keys that can have made an assertion.
 *
 * @param {string} assertion base64 of its JSON
 * @returns {Promise<string[]>} 0x-hex
 */
export async function signersIn(assertion) {
  const { response } = JSON.parse(new TextDecoder().decode(fromBase64(assertion)));
  const client = await crypto.subtle.digest("SHA-256", fromBase64(response.clientDataJSON));
  const signed = new Uint8Array([...fromBase64(response.authenticatorData), ...new Uint8Array(client)]);
  const signature = signatureIn(assertion); // r and s come first
  const [r, s] = [signature.slice(2, 66), signature.slice(66, 130)].map((word) => BigInt(`0x${word}`));
  return signersOf(r, s, signed);
}
