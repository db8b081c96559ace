/** The keys that an account's events name, and what its chain says of each (docs/contracts.md, "Accounts"). */

import { fromHex } from "../bytes.ts";
import { WORD } from "./abi.ts";
import { bytesAt, digitsAt, restAt } from "./lists.ts";
import { type AccountOnChain, logs } from "./logs.ts";
import { ownerState, p256Signer, words } from "./owners.ts";

const PUBLIC_KEY = "63ffab31"; // publicKey()
export const OWNER_ADDED = "OwnerAdded(bytes32,bytes,uint48)";

/** `signer`: 0x-hex; `expiry`: Unix time, 0 for never */
export type Owner = { signer: string; expiry: number; isPrimary: boolean };

/**
 * @param more signers that may be owners without an event
 * @returns oldest first
 */
export async function ownersOf(chainAccount: AccountOnChain, more: string[]): Promise<Owner[]> {
  const [[x, y], added] = await Promise.all([
    words(chainAccount.url, chainAccount.address, PUBLIC_KEY, 2),
    announced(chainAccount, OWNER_ADDED),
  ]);
  const primary = y ? p256Signer({ x, y }) : null;
  const states = await statesOf(chainAccount, [...more, ...added, ...(primary ? [primary] : [])]);
  return states
    .filter(({ isOwner }) => isOwner)
    .map(({ signer, expiry }) => ({ signer, expiry, isPrimary: signer === primary }));
}

/** @returns the ID by which an account knows it, 0x-hex */
export function keyIdOf({ vault }: Pick<AccountOnChain, "vault">, signer: string): Promise<string> {
  return vault.keccak256(fromHex(signer));
}

/** What the chain says of each of these signers. */
export function statesOf(chainAccount: AccountOnChain, signers: string[]) {
  return Promise.all(
    [...new Set(signers)].map(async (signer) => ({
      signer,
      ...(await ownerState(chainAccount.url, chainAccount.address, await keyIdOf(chainAccount, signer))),
    })),
  );
}

/** Returns the signers that events name, oldest first; only those whose hash is the event's key ID. */
export async function announced(chainAccount: AccountOnChain, event: string) {
  const found = await logs(chainAccount, chainAccount.address, [[event]], ({ digits, topics: [, id = ""] }) => ({
    id: digitsAt(id, 0, 2 + WORD),
    signer: bytesAt(digits, restAt(digits, 0, 0)),
  }));
  const own = found.map(async ({ id, signer }) => ((await keyIdOf(chainAccount, signer)) === id ? [signer] : []));
  return (await Promise.all(own)).flat();
}
