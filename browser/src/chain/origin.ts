/** The key and salt for which the factory created an account. */

import { WORD, address as addressWord } from "./abi.ts";
import { numberAt } from "./lists.ts";
import { type AccountOnChain, logs } from "./logs.ts";

const ACCOUNT_CREATED = "AccountCreated(address,address,uint256,uint256,uint256)";

/**
 * Returns the first key and the salt of an account; null before it exists. The caller checks them.
 *
 * @param block the number of the only block that is searched, 0x-hex
 * @throws {NetworkError}
 */
export async function originOf(
  chainAccount: AccountOnChain,
  factory: string,
  block?: string,
): Promise<{ x: bigint; y: bigint; salt: bigint } | null> {
  const wanted = [[ACCOUNT_CREATED], `0x${addressWord(chainAccount.address)}`] as [string[], string];
  const numbers = ({ digits }: { digits: string }) => [0, 1, 2].map((at) => numberAt(digits, at * WORD));
  const [found] = await logs(chainAccount, factory, wanted, numbers, block);
  if (!found) return null;
  const [x, y, salt] = found;
  return { x, y, salt };
}
