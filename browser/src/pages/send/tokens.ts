/** The currencies that can be sent: the chain's coin, and USDC if the service knows its contract. */

import { NATIVE } from "../library.ts";
import { amount } from "../parts/language.ts";
import { USDC } from "../vault/permission.ts";
import { decimalOf } from "../vault/values.ts";

export type Token = { symbol: "USDC" | "ETH"; token: string; decimals: number };

export const COIN: Token = { symbol: "ETH", token: NATIVE, decimals: 18 };

export const TOKENS: Token[] = [...(USDC ? [{ symbol: "USDC" as const, token: USDC, decimals: 6 }] : []), COIN];

/**
 * Formats an amount with all its digits.
 *
 * @param value in the smallest unit
 */
export function shown(value: bigint, { decimals, symbol }: Token) {
  return amount(decimalOf(value, decimals), symbol);
}
