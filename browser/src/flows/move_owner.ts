/** Makes the new passkey an owner of the account, by one change that the vault's key signs for every chain. */

import "../core.ts";
import type { SignedChanges } from "../account/changes.ts";
import type { AccountKeys } from "../account/keys.ts";
import { OperationFailed, SecondKeyMissing } from "../chain/errors.ts";
import { hasExpired } from "../chain/owners.ts";
import { sleep } from "../chain/rpc.ts";
import type { Client } from "../client.ts";
import { MoveRefused, ServiceError } from "../errors.ts";
import type { ServedChain } from "../generated/types.ts";
import { passkeysOf } from "../passkeys/signers.ts";
import { OWNER_LOOKS, STATE_AGE_MS } from "../generated/operation_retries.ts";
import { servedChains } from "./contracts.ts";

/** `missingOn`: the names of other chains of the previous service that do not have the change yet */
export type Ownership = { isOwner: boolean; formerIsOwner: boolean; missingOn: string[] };

export const UNCHANGED: Ownership = { isOwner: false, formerIsOwner: false, missingOn: [] };

/** Returns the signer of a passkey in the vault; undefined for one whose signatures accounts do not verify. */
export async function signerOf({ vault }: Client, credentialId: string) {
  return (await passkeysOf(vault)).find((it) => it.credentialId === credentialId)?.signer;
}

/**
 * Makes the new passkey an owner, and ends those of given-up attempts. A repeated call has no effect. Without an
 * endpoint of the chain, nothing is changed.
 * @param old the previous service's, through which the chain is read and the change is signed, if it knows the chain:
 *   the new one could name a later sequence for the change, or say that the new passkey owns the account when it does
 *   not. It also brings the change to its other chains: the new one could name chains on which the person has money,
 *   for the sake of the fees
 * @param next the new service's
 * @param passkeys as signers: the new one, the previous service's, and those of given-up attempts
 * @param endFormer asks whether that one, an owner, ends with the same change
 * @throws {MoveRefused} `not_owner`: the account does not take the change, or another device changed it meanwhile, or
 *   the chain cannot be read
 * @throws {SecondKeyMissing} two owners must sign
 */
export async function owned(
  old: Client,
  next: Client,
  passkeys: { signer?: string; former?: string; stale: string[] },
  endFormer: () => boolean | Promise<boolean>,
): Promise<Ownership> {
  return made(old, next, passkeys, endFormer).catch((error) => {
    if (!(error instanceof ServiceError) || error instanceof SecondKeyMissing) throw error;
    const message = `the new passkey does not own the account yet: ${error.message}`;
    throw new MoveRefused("not_owner", message, { cause: error });
  });
}

const made: typeof owned = async (old, next, { signer: added, former, stale }, endFormer) => {
  const [before, keys] = [await old.accountKeys(), await next.accountKeys()];
  if ((!added && !stale.length) || !(await keys.knowsChain())) return UNCHANGED;
  const source = (await before.knowsChain()) ? before : keys;
  const others = (await servedChains(old)).filter(({ main, payments }) => payments && !main);
  let present = await ownersOf(source);
  const signed = [];
  const ends = stale.filter((it) => present.includes(it));
  if (added && former && present.includes(former) && (await endFormer())) ends.push(former);
  if ((added && !present.includes(added)) || ends.length) {
    // An owner is added once more, so that an endpoint that lies about it cannot have the former one end alone.
    const adds = added ? [{ kind: "add_owner" as const, signer: added }] : [];
    const removes = ends.map((signer) => ({ kind: "remove_owner" as const, signer }));
    signed.push(await source.sign([...adds, ...removes]));
    await keys.bring(signed);
    present = await changed(source, added, ends);
  }
  const isIn = (it: string | undefined) => it !== undefined && present.includes(it);
  return { isOwner: isIn(added), formerIsOwner: isIn(former), missingOn: await missingOn(old, others, signed) };
};

async function ownersOf(keys: AccountKeys) {
  return (await keys.view()).owners.filter((it) => !hasExpired(it)).map(({ signer }) => signer);
}

/**
 * Returns the owners once they show the change. One node of a chain may be some blocks behind another.
 * @throws {OperationFailed} they do not
 */
async function changed(keys: AccountKeys, added: string | undefined, ends: string[]) {
  for (let look = 0; look < OWNER_LOOKS; look++) {
    const present = await ownersOf(keys);
    if ((!added || present.includes(added)) && !ends.some((it) => present.includes(it))) return present;
    await sleep(STATE_AGE_MS);
  }
  throw new OperationFailed("the account does not show the change, or another device has changed the owners meanwhile");
}

/** Brings the change to other chains too. @returns the names of those that did not take it */
async function missingOn(old: Client, others: ServedChain[], signed: SignedChanges[]): Promise<string[]> {
  const source = await old.accountKeys();
  const missing = [];
  for (const { chainId, name } of others) {
    try {
      const changes = [...signed, ...(await source.history())];
      const origin = (await source.origin()) ?? undefined;
      if (changes.length) await (await old.accountKeys(undefined, chainId)).bring(changes, { origin });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      missing.push(name);
    }
  }
  return missing;
}
