/** Reads the events of a contract from the chain's endpoint. */

import { NetworkError } from "../errors.js";
import { textHash } from "./names.js";
import { ask, digitsOf } from "./rpc.js";

/**
 * @typedef {{vault: import("../vault/vault.js").Vault, url: string, address: string}} AccountOnChain an account on a chain; the
 *   vault computes hashes
 */

/**
 * Returns what `read` makes of a contract's events.
 *
 * @template T
 * @param {AccountOnChain} chainAccount
 * @param {string} from the address that emitted them
 * @param {[string[], ...string[]]} wanted the events, and further topics
 * @param {(event: {digits: string, topics: string[], transaction: string}) => T} read `digits`: of its data;
 *   throws RangeError if they are malformed
 * @param {string} [block] the number of the only block that is searched, 0x-hex
 * @returns {Promise<T[]>}
 * @throws {NetworkError} the response is not a list of such events
 */
export async function logs({ vault, url }, from, [events, ...more], read, block) {
  const topics = [await Promise.all(events.map((it) => textHash(vault, it))), ...more];
  const filter = { address: from, fromBlock: block ?? "0x0", toBlock: block ?? "latest", topics };
  const found = await ask(url, "eth_getLogs", [filter]);
  try {
    return found.map((/** @type {any} */ it) =>
      read({
        digits: digitsOf(it.data),
        topics: it.topics.map((/** @type {unknown} */ topic) => `0x${digitsOf(topic)}`),
        transaction: `0x${digitsOf(it.transactionHash, 32)}`,
      }),
    );
  } catch (cause) {
    if (!(cause instanceof TypeError || cause instanceof RangeError)) throw cause;
    throw new NetworkError("the chain's endpoint returns something other than events", { cause });
  }
}
