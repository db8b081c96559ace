/** Makes the new passkey an owner of the account, by one change that the vault's key signs for every chain. */

import "../core.js";
import { OperationFailed, SecondKeyMissing } from "../chain/errors.js";
import { MoveRefused, ServiceError } from "../errors.js";
import { passkeysOf } from "../passkeys/signers.js";

/**
 * @typedef {import("../client.js").Client} Client
 * @typedef {{isOwner: boolean, formerIsOwner: boolean}} Ownership
 */

/** @type {Ownership} */
export const UNCHANGED = { isOwner: false, formerIsOwner: false };

/**
 * Returns the signer of a passkey in the vault; undefined for one whose signatures accounts do not verify.
 *
 * @param {Client} client
 * @param {string} credentialId
 */
export async function signerOf({ vault }, credentialId) {
  return (await passkeysOf(vault)).find((it) => it.credentialId === credentialId)?.signer;
}

/**
 * Makes the new passkey an owner, and ends those of given-up attempts. A repeated call has no effect. Without an endpoint of
 * the chain, nothing is changed.
 *
 * @param {Client} old the previous service's. Its endpoint says which place the change has among the account's changes: the new
 *   one could name a later place, and bring the change after the person has removed the passkey
 * @param {Client} next the new service's
 * @param {{signer?: string, former?: string, stale: string[]}} passkeys as signers: the new one, the previous service's, and
 *   those of given-up attempts
 * @param {() => boolean | Promise<boolean>} endFormer asks whether that one, an owner, ends with the same change
 * @returns {Promise<Ownership>}
 * @throws {MoveRefused} `not_owner`: the account does not take the change, or another device changed it meanwhile, or the
 *   chain cannot be read
 * @throws {SecondKeyMissing} two owners must sign
 */
export async function owned(old, next, passkeys, endFormer) {
  try {
    return await made(old, next, passkeys, endFormer);
  } catch (error) {
    if (!(error instanceof ServiceError) || error instanceof SecondKeyMissing) throw error;
    const message = `the new passkey does not own the account yet: ${error.message}`;
    throw new MoveRefused("not_owner", message, { cause: error });
  }
}

/** @type {typeof owned} */
async function made(old, next, { signer: added, former, stale }, endFormer) {
  const keys = await next.accountKeys();
  if ((!added && !stale.length) || !(await keys.knowsChain())) return UNCHANGED;
  const owners = async () => (await keys.view()).owners.map(({ signer }) => signer);
  let present = await owners();
  const ends = stale.filter((it) => present.includes(it));
  if (added && former && present.includes(former) && (await endFormer())) ends.push(former);
  if ((added && !present.includes(added)) || ends.length) {
    // An owner is added once more, so that an endpoint that lies about it cannot have the former one end alone.
    const adds = added ? [{ kind: /** @type {const} */ ("add_owner"), signer: added }] : [];
    const removes = ends.map((signer) => ({ kind: /** @type {const} */ ("remove_owner"), signer }));
    await keys.bring([await keys.sign([...adds, ...removes], { sequence: await placeAt(old) })]);
    present = await owners();
  }
  if ((added && !present.includes(added)) || ends.some((it) => present.includes(it)))
    throw new OperationFailed("another device has changed the owners meanwhile");
  const isIn = (/** @type {string | undefined} */ it) => it !== undefined && present.includes(it);
  return { isOwner: isIn(added), formerIsOwner: isIn(former) };
}

/** @param {Client} old @returns {Promise<number | undefined>} undefined: only the new service knows the chain */
async function placeAt(old) {
  const keys = await old.accountKeys();
  return (await keys.knowsChain()) ? (await keys.view()).settings.sequence : undefined;
}
