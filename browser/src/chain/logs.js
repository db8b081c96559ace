/** Reads the events of a contract from the chain's endpoint. */

import { NetworkError } from "../errors.js";
import { textHash } from "./names.js";
import { ask } from "./rpc.js";

/**
 * @typedef {{vault: import("../vault/vault.js").Vault, url: string, address: string}} AccountOnChain an account on a chain; the
 *   vault computes hashes
 */

/**
 * @param {AccountOnChain} chainAccount
 * @param {string} from the address that emitted them
 * @param {[string[], ...string[]]} wanted the events, and further topics
 * @returns {Promise<{digits: string, topics: string[], transaction: string}[]>} `digits`: of the data
 * @throws {NetworkError} the answer is not a list of events
 */
export async function logs({ vault, url }, from, [events, ...more]) {
  const topics = [await Promise.all(events.map((it) => textHash(vault, it))), ...more];
  const filter = { address: from, fromBlock: "0x0", toBlock: "latest", topics };
  const found = await ask(url, "eth_getLogs", [filter]);
  if (!Array.isArray(found) || !found.every(isEvent))
    throw new NetworkError("the chain's endpoint returns something else than events");
  return found.map((/** @type {any} */ it) => ({
    digits: it.data.slice(2).toLowerCase(),
    topics: it.topics,
    transaction: it.transactionHash,
  }));
}

/** @param {any} it @returns {boolean} */
function isEvent(it) {
  const texts = [it?.data, it?.transactionHash, ...(Array.isArray(it?.topics) ? it.topics : [null])];
  return texts.every((text) => typeof text === "string");
}
