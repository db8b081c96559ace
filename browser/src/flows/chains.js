/** The chains that a service serves in addition to its main chain. */

import { RequestRefused, insteadOf } from "../errors.js";
import { EXPLORERS } from "../generated/chains.js";

/**
 * @import {ServedChain} from "../generated/types.js"
 * @import {ServiceClient} from "../http/service.js"
 */

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
