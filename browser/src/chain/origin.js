/** The key and salt for which the factory created an account. */

import { WORD, address as addressWord } from "./abi.js";
import { numberAt } from "./lists.js";
import { logs } from "./logs.js";

const ACCOUNT_CREATED = "AccountCreated(address,address,uint256,uint256,uint256)";

/**
 * Returns the first key and the salt of an account; null before it exists. The caller checks them.
 *
 * @param {import("./logs.js").AccountOnChain} chainAccount
 * @param {string} factory
 * @param {string} [block] the number of the only block that is searched, 0x-hex
 * @returns {Promise<{x: bigint, y: bigint, salt: bigint} | null>}
 * @throws {import("../errors.js").NetworkError}
 */
export async function originOf(chainAccount, factory, block) {
  const wanted = /** @type {[string[], string]} */ ([[ACCOUNT_CREATED], `0x${addressWord(chainAccount.address)}`]);
  const numbers = (/** @type {{digits: string}} */ { digits }) => [0, 1, 2].map((at) => numberAt(digits, at * WORD));
  const [found] = await logs(chainAccount, factory, wanted, numbers, block);
  if (!found) return null;
  const [x, y, salt] = found;
  return { x, y, salt };
}
