/**
 * The service's contracts and chains, and the addresses of accounts, which follow from keys and are computed in the enclave.
 */

import { ForeignContracts, RequestRefused, insteadOf } from "../errors.js";
import { EXPLORERS } from "../generated/chains.js";

/**
 * @import {Client} from "../client.js"
 * @import {ContractSet, ServedChain} from "../generated/types.js"
 * @import {ServiceClient} from "../http/service.js"
 * @typedef {{x: bigint, y: bigint, salt?: bigint}} Origin what an account is created for: its first key, and a salt
 */

/** @type {WeakMap<Client, Promise<ContractSet>>} the service's contracts never change */
const known = new WeakMap();

/** @param {Client} client @returns {Promise<ContractSet>} */
export function contractsOf(client) {
  const requested = known.get(client) ?? client.contracts();
  known.set(client, requested);
  requested.catch(() => known.delete(client));
  return requested;
}

/**
 * Returns the address of the account that the service's factory creates for a P-256 key.
 * @param {Client} client @param {Origin} origin
 * @returns {Promise<string>} with its checksum
 * @throws {ForeignContracts} the factory is not this release's, and `foreignContracts` does not allow it
 */
export async function accountAddress(client, { x, y, salt = 0n }) {
  const { appFactory: factory } = await contractsOf(client);
  const key = { public_key: `04${hex(x)}${hex(y)}`, salt: `0x${salt.toString(16)}` };
  const derived = async (/** @type {object} */ options) =>
    (await client.vault.deriveAddress("ethereum", { ...key, ...options })).address;
  const address = await derived({ factory });
  // Without a factory, the enclave uses this release's.
  if (client.foreignContracts || address === (await derived({}))) return address;
  throw new ForeignContracts(factory);
}

/** @param {bigint} number */
function hex(number) {
  return number.toString(16).padStart(64, "0");
}

/**
 * Returns the chains that a service serves; none from an older service, which has one.
 * @param {ServiceClient} client @returns {Promise<ServedChain[]>}
 */
export async function servedChains(client) {
  return (await client.chains().catch(insteadOf(RequestRefused, { chains: [] }))).chains;
}

/**
 * Returns the service's row for a chain; undefined if it does not serve the chain.
 * @param {ServiceClient} client @param {number} chainId
 */
export async function servedChain(client, chainId) {
  return (await servedChains(client)).find((chain) => chain.chainId === chainId);
}

/**
 * Returns the page that shows a user operation, "" if none exists. The service is asked about unknown chains alone.
 * @param {ServiceClient} client @param {number} chainId @param {string} hash
 */
export async function operationPage(client, chainId, hash) {
  const explorer = EXPLORERS[chainId] ?? (await servedChain(client, chainId).catch(() => null))?.explorer ?? "";
  return /^https?:\/\//.test(explorer) ? `${explorer}/op/${hash}` : "";
}
