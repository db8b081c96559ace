/** Addresses that people and apps name. Not in names.ts, which every first visit loads. */

import type { Vault } from "../vault/vault.ts";
import { isAddress } from "./calls.ts";
import { checksumAddress } from "./names.ts";

/**
 * Returns the address that a person or an app names, with its checksum. One in mixed case contains a checksum, which
 * reveals most typing errors.
 * @throws {TypeError} it starts with `name`: a wrong checksum, the zero address or another text
 */
export async function checkedAddress(vault: Vault, text: unknown, name: string): Promise<string> {
  if (!isAddress(text) || BigInt(text) === 0n) throw new TypeError(`${name}: not an address`);
  const found = await checksumAddress(vault, text);
  const digits = text.slice(2);
  if (![found.slice(2), digits.toLowerCase(), digits.toUpperCase()].includes(digits))
    throw new TypeError(`${name}: the address has a typing error (its checksum is wrong)`);
  return found;
}
