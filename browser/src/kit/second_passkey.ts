/** Asks for a second passkey where two keys of an account must sign (docs/contracts.md, "Threshold"). */

import { fromHex } from "../bytes.ts";
import { signatureIn } from "../chain/assertions.ts";
import type { SecondKey } from "../chain/two_keys.ts";
import type { Client } from "../client.ts";
import { type Passkey, passkeysOf } from "../passkeys/signers.ts";
import { usePasskey } from "../passkeys/use.ts";

type Vault = Client["vault"];

/**
 * Returns the vault's passkeys as second keys. If several can sign, it is another one than the person used last.
 *
 * @param prompt called before the browser asks for one of these passkeys; if it throws, nothing is signed
 * @param used returns which passkey the person used last to open the vault or to confirm
 */
export function secondPasskey(vault: Vault, prompt: (names: string[]) => Promise<void>, used: () => string): SecondKey {
  return {
    signers: async () => (await passkeysOf(vault).catch(() => [])).map(({ signer }) => signer), // none while it is locked
    sign: async (hash, signers) => {
      const all = (await passkeysOf(vault)).filter(({ signer }) => signers.includes(signer));
      const others = all.filter(({ credentialId }) => credentialId !== used());
      const offered = others.length ? others : all;
      await prompt(offered.map(({ name }) => name));
      const credentialIds = offered.map(({ credentialId }) => credentialId);
      const { credentialId, assertion } = await usePasskey({ challenge: fromHex(hash), credentialIds });
      const { signer } = offered.find((it) => it.credentialId === credentialId) as Passkey;
      return { signer, signature: signatureIn(assertion) };
    },
  };
}
