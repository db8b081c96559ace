/** The currencies that can be sent: the chain's coin, and USDC if the service knows its contract. */

import { NATIVE } from "../library.js";
import { amount } from "../parts/language.js";
import { USDC } from "../vault/permission.js";
import { decimalOf } from "../vault/values.js";

/** @typedef {{symbol: "USDC" | "ETH", token: string, decimals: number}} Token */

/** @type {Token} */
export const COIN = { symbol: "ETH", token: NATIVE, decimals: 18 };

/** @type {Token[]} */
export const TOKENS = [...(USDC ? [{ symbol: /** @type {const} */ ("USDC"), token: USDC, decimals: 6 }] : []), COIN];

/**
 * Formats an amount with all its digits.
 *
 * @param {bigint} value in the smallest unit
 * @param {Token} token
 */
export function shown(value, { decimals, symbol }) {
  return amount(decimalOf(value, decimals), symbol);
}
