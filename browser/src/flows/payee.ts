/** Resolves a payee: an address is used as it is; a DID's account must be confirmed by the chain itself. */

import { hex } from "../chain/abi.ts";
import { isAddress } from "../chain/calls.ts";
import { PaymentRefused } from "../chain/errors.ts";
import { checkedAddress } from "../chain/addresses.ts";
import { checksumAddress, didOfKey, textHash } from "../chain/names.ts";
import { originOf } from "../chain/origin.ts";
import { rpcOf, sleep } from "../chain/rpc.ts";
import type { Client } from "../client.ts";
import { STATE_AGE_MS } from "../generated/operation_retries.ts";
import type { AccountState } from "../generated/types.ts";
import { accountAddress, contractsOf, type Origin } from "./contracts.ts";

const OF_A_KEY = "did:new:";

/**
 * @param to an address or a DID
 * @returns the address with its checksum, and the DID if one was given
 * @throws {TypeError} it is neither, or the address has a typing error
 * @throws {PaymentRefused} the DID has no active account, or the account returned by the indexer is not the DID's
 */
export async function payeeOf(client: Client, to: string): Promise<{ address: string; did: string | null }> {
  if (isAddress(to)) return { address: await checkedAddress(client.vault, to, "to"), did: null };
  if (typeof to !== "string" || !to.startsWith("did:")) throw new TypeError("to: an address or a DID");
  const found = await client.indexerDid(await textHash(client.vault, to));
  const controller = found.controller ?? "";
  if (!found.found || !found.active || !isAddress(controller))
    throw new PaymentRefused("the payee's DID is not registered, or not active", "payee_unregistered");
  const address = await checksumAddress(client.vault, controller);
  await confirm(client, to, address);
  return { address, did: to };
}

/**
 * Checks that a DID's account has the same key on another chain as on the main chain. A change of owners on the main
 * chain may not have reached the other chain, where an account that does not exist yet obeys its first key.
 * @throws {PaymentRefused}
 */
export async function checkElsewhere(
  client: Client,
  { address: account, did }: { address: string; did: string | null },
  chainId: number,
) {
  if (did === null) return;
  const states = [client.accountState({ account }), client.accountStateOn(chainId, { account })];
  const [key, found] = (await Promise.all(states)).map(keyOf);
  const isThere = found.x !== 0n || found.y !== 0n;
  const isSame = isThere ? found.x === key.x && found.y === key.y : (await accountAddress(client, key)) === account;
  if (!isSame) throw unverified(`on chain ${chainId}, ${account} obeys another key than on the payee's own chain`);
}

function unverified(why: string) {
  return new PaymentRefused(`${why}: nothing was paid`, "payee_unverified");
}

function keyOf({ pubKeyX, pubKeyY }: AccountState): Origin {
  return { x: BigInt(pubKeyX), y: BigInt(pubKeyY) };
}

async function confirm(client: Client, did: string, address: string) {
  const state = await stateOf(client, address);
  if (!state.isActive || state.did.toLowerCase() !== (await textHash(client.vault, did)))
    throw unverified(`the chain does not confirm that ${address} is the account of the payee's DID`);
  if (did.startsWith(OF_A_KEY) && !(await follows(client, did, address, state)))
    throw unverified(`${address} does not follow from the key of the payee's DID`);
}

/**
 * Returns the account's state. The indexer says that the account is registered, so a state that does not say so may be
 * from before the registration, because the service caches states; it is then read once more.
 */
async function stateOf(client: Client, account: string) {
  const state = await client.accountState({ account });
  if (state.isActive) return state;
  await sleep(STATE_AGE_MS);
  return client.accountState({ account });
}

/**
 * Whether the address follows from the key whose hash is the DID: the account's current key or, after a change of keys,
 * the one that it was created for. Whoever names the key cannot lie, because the DID and the address are hashes of it.
 */
async function follows(client: Client, did: string, address: string, state: AccountState) {
  if (await isOrigin(client, did, address, keyOf(state))) return true;
  const created = await createdFor(client, address);
  return created !== null && isOrigin(client, did, address, created);
}

async function isOrigin(client: Client, did: string, address: string, origin: Origin) {
  if ((await didOfKey(client.vault, origin.x.toString(16), origin.y.toString(16))) !== did) return false;
  return (await accountAddress(client, origin)) === address;
}

/** Returns the key and salt of an account's creation; null without a response. */
async function createdFor(client: Client, address: string) {
  const { block_number: block } = await client.indexerAccount(address);
  const url = await rpcOf(client, client.gas).catch(() => "");
  if (!/^[0-9]{1,78}$/.test(block ?? "") || !url) return null;
  const { appFactory } = await contractsOf(client);
  return originOf({ vault: client.vault, url, address }, appFactory, hex(BigInt(block ?? 0))).catch(() => null);
}
