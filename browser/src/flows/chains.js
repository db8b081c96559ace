/** The chains that a service serves in addition to its main chain. */

import { RequestRefused } from "../errors.js";
import { EXPLORERS } from "../generated/chains.js";

/** @import {ServedChain} from "../generated/types.js" */

/**
 * Returns the service's row for a chain; null if it does not serve the chain.
 * @param {import("../http/service.js").ServiceClient} client @param {number} chainId
 * @returns {Promise<ServedChain | null>}
 */
export async function servedChain(client, chainId) {
  try {
    return (await client.chains()).chains.find((chain) => chain.chainId === chainId) ?? null;
  } catch (error) {
    if (error instanceof RequestRefused) return null; // an older service has one chain
    throw error;
  }
}

/**
 * Returns the page that shows a user operation, "" if none exists. The service is asked about unknown chains alone.
 * @param {import("../http/service.js").ServiceClient} client @param {number} chainId @param {string} hash
 */
export async function operationPage(client, chainId, hash) {
  const explorer = EXPLORERS[chainId] ?? (await servedChain(client, chainId).catch(() => null))?.explorer ?? "";
  return /^https?:\/\//.test(explorer) ? `${explorer}/op/${hash}` : "";
}
