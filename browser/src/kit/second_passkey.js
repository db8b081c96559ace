/** Asks for a second passkey where two keys of an account must sign (docs/contracts.md, "Threshold"). */

import { fromBase64, fromHex, toHex } from "../bytes.js";
import { signatureIn } from "../chain/assertions.js";
import { usePasskey } from "../passkeys/use.js";

/** A COSE key of P-256 (RFC 9053, section 7.1) ends with X and Y. */
const COSE = /215820([0-9a-f]{64})225820([0-9a-f]{64})/;
const POINT = /^0x04([0-9a-f]{128})$/;

/**
 * @typedef {{signer: string, name: string, credentialId: string}} Passkey `name`: empty if the person gave none
 * @typedef {import("../client.js").Client["vault"]} Vault
 */

/** @param {Vault} vault @returns {Promise<Passkey[]>} the vault's passkeys whose keys an account can verify */
export async function passkeysOf(vault) {
  const { result } = await vault.exec("resource:credentials action:list");
  return /** @type {any[]} */ (result ?? []).flatMap(({ public_key: key, device_name: name, credential_id: id }) => {
    const hex = key ? toHex(fromBase64(key)) : "";
    const digits = POINT.exec(hex)?.[1] ?? COSE.exec(hex)?.slice(1).join("");
    return digits ? [{ signer: `0x${digits}`, name: name ?? "", credentialId: id }] : [];
  });
}

/**
 * Returns the vault's passkeys as second keys. If several can sign, it is another one than the person used last.
 *
 * @param {Vault} vault
 * @param {(names: string[]) => Promise<void>} asked called before the browser asks for one of these passkeys; if it throws,
 *   nothing is signed
 * @param {() => string} used returns which passkey the person used last to open the vault or to confirm
 * @returns {import("../chain/two_keys.js").SecondKey}
 */
export function secondPasskey(vault, asked, used) {
  return {
    signers: async () => (await passkeysOf(vault).catch(() => [])).map(({ signer }) => signer), // none while it is locked
    sign: async (hash, signers) => {
      const all = (await passkeysOf(vault)).filter(({ signer }) => signers.includes(signer));
      const others = all.filter(({ credentialId }) => credentialId !== used());
      const offered = others.length ? others : all;
      await asked(offered.map(({ name }) => name));
      const credentialIds = offered.map(({ credentialId }) => credentialId);
      const { credentialId, assertion } = await usePasskey({ challenge: fromHex(hash), credentialIds });
      const { signer } = /** @type {Passkey} */ (offered.find((it) => it.credentialId === credentialId));
      return { signer, signature: signatureIn(assertion) };
    },
  };
}
