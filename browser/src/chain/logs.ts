/** Reads the events of a contract from the chain's endpoint. */

import { NetworkError } from "../errors.ts";
import type { Vault } from "../vault/vault.ts";
import { textHash } from "./names.ts";
import { ask, digitsOf } from "./rpc.ts";

/** what an endpoint should return; where it does not, reading it fails */
type Log = { data: unknown; topics: unknown[]; transactionHash: unknown };

/** an account on a chain; the vault computes hashes */
export type AccountOnChain = { vault: Vault; url: string; address: string };

/**
 * Returns what `read` makes of a contract's events.
 *
 * @param from the address that emitted them
 * @param wanted the events, and further topics
 * @param read `digits`: of its data; throws RangeError if they are malformed
 * @param block the number of the only block that is searched, 0x-hex
 * @throws {NetworkError} the response is not a list of such events
 */
export async function logs<T>(
  { vault, url }: AccountOnChain,
  from: string,
  [events, ...more]: [string[], ...string[]],
  read: (event: { digits: string; topics: string[]; transaction: string }) => T,
  block?: string,
): Promise<T[]> {
  const topics = [await Promise.all(events.map((it) => textHash(vault, it))), ...more];
  const filter = { address: from, fromBlock: block ?? "0x0", toBlock: block ?? "latest", topics };
  const found = await ask(url, "eth_getLogs", [filter]);
  try {
    return (found as Log[]).map((it) =>
      read({
        digits: digitsOf(it.data),
        topics: it.topics.map((topic) => `0x${digitsOf(topic)}`),
        transaction: `0x${digitsOf(it.transactionHash, 32)}`,
      }),
    );
  } catch (cause) {
    if (!(cause instanceof TypeError || cause instanceof RangeError)) throw cause;
    throw new NetworkError("the chain's endpoint returns something other than events", { cause });
  }
}
