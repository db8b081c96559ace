/** The vault's passkeys as signers of accounts. */

import { fromBase64, toHex } from "../bytes.ts";
import type { Vault } from "../vault/vault.ts";

/** A COSE key of P-256 (RFC 9053, section 7.1) ends with X and Y. */
const COSE = /215820([0-9a-f]{64})225820([0-9a-f]{64})$/;
const POINT = /^0x04([0-9a-f]{128})$/;

/** `name`: empty if the person gave none */
export type Passkey = { signer: string; name: string; credentialId: string };

/** @returns the vault's passkeys whose keys an account can verify */
export async function passkeysOf(vault: Pick<Vault, "exec">): Promise<Passkey[]> {
  const { result } = await vault.exec("resource:credentials action:list");
  return (result ?? []).flatMap(({ public_key: key, device_name: name, credential_id: id }) => {
    const hex = key ? toHex(fromBase64(key)) : "";
    const digits = POINT.exec(hex)?.[1] ?? COSE.exec(hex)?.slice(1).join("");
    return digits ? [{ signer: `0x${digits}`, name: name ?? "", credentialId: id }] : [];
  });
}
