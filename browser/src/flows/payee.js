/** Resolves a payee: an address is used as it is; a DID's account must be confirmed by the chain itself. */

import { isAddress } from "../chain/calls.js";
import { PaymentRefused } from "../chain/errors.js";
import { checksumAddress, didOfKey, textHash } from "../chain/names.js";

const OF_A_KEY = "did:new:";
const ADDRESS_DIGITS = 40;

/**
 * @param {import("../client.js").Client} client
 * @param {string} to an address or a DID
 * @returns {Promise<{address: string, did: string | null}>} the address with its checksum, and the DID if one was given
 * @throws {TypeError} it is neither
 * @throws {PaymentRefused} the DID has no active account, or the account returned by the indexer is not the DID's
 */
export async function payeeOf(client, to) {
  if (isAddress(to)) return { address: await checksumAddress(client.vault, to), did: null };
  if (typeof to !== "string" || !to.startsWith("did:")) throw new TypeError("to: an address or a DID");
  const found = await client.indexerDid(await textHash(client.vault, to));
  const controller = found.controller ?? "";
  if (!found.found || !found.active || !isAddress(controller)) {
    throw new PaymentRefused("the payee's DID is not registered, or not active", "payee_unregistered");
  }
  const address = await checksumAddress(client.vault, controller);
  await confirm(client, to, address);
  return { address, did: to };
}

/**
 * @param {import("../client.js").Client} client
 * @param {string} did
 * @param {string} address
 */
async function confirm(client, did, address) {
  const state = await client.accountState({ account: address });
  const known = state.isActive && state.did === (await textHash(client.vault, did));
  if (known && (!did.startsWith(OF_A_KEY) || (await isOfItsKey(client, did, address, state)))) return;
  throw new PaymentRefused(`the chain does not say that ${address} is the account of the payee's DID: nothing is paid`, "payee_unverified");
}

/**
 * Whether the DID is the hash of the account's current key or, after a key change, of its first key.
 *
 * @param {import("../client.js").Client} client
 * @param {string} did
 * @param {string} address
 * @param {import("../generated/types.js").AccountState} state
 */
async function isOfItsKey(client, did, address, { pubKeyX, pubKeyY }) {
  if ((await didOfKey(client.vault, pubKeyX, pubKeyY)) === did) return true;
  const { found, owner_address: owner } = await client.indexerAccount(address);
  // The owner that the factory states for an account is the last 20 bytes of its first key's hash (docs/contracts.md).
  return found && isAddress(owner) && owner?.slice(2).toLowerCase() === did.slice(-ADDRESS_DIGITS);
}
