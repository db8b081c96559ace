/** Asks for a second passkey where two keys of an account must sign (docs/contracts.md, "Threshold"). */

import { fromHex } from "../bytes.js";
import { signatureIn } from "../chain/assertions.js";
import { passkeysOf } from "../passkeys/signers.js";
import { usePasskey } from "../passkeys/use.js";

/**
 * @typedef {import("../passkeys/signers.js").Passkey} Passkey
 * @typedef {import("../client.js").Client["vault"]} Vault
 */

/**
 * Returns the vault's passkeys as second keys. If several can sign, it is another one than the person used last.
 *
 * @param {Vault} vault
 * @param {(names: string[]) => Promise<void>} prompt called before the browser asks for one of these passkeys; if it throws,
 *   nothing is signed
 * @param {() => string} used returns which passkey the person used last to open the vault or to confirm
 * @returns {import("../chain/two_keys.js").SecondKey}
 */
export function secondPasskey(vault, prompt, used) {
  return {
    signers: async () => (await passkeysOf(vault).catch(() => [])).map(({ signer }) => signer), // none while it is locked
    sign: async (hash, signers) => {
      const all = (await passkeysOf(vault)).filter(({ signer }) => signers.includes(signer));
      const others = all.filter(({ credentialId }) => credentialId !== used());
      const offered = others.length ? others : all;
      await prompt(offered.map(({ name }) => name));
      const credentialIds = offered.map(({ credentialId }) => credentialId);
      const { credentialId, assertion } = await usePasskey({ challenge: fromHex(hash), credentialIds });
      const { signer } = /** @type {Passkey} */ (offered.find((it) => it.credentialId === credentialId));
      return { signer, signature: signatureIn(assertion) };
    },
  };
}
