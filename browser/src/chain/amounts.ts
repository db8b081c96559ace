/** Amounts of tokens and of a chain's coin, exactly, whatever their size. */

const COIN_DECIMALS = 18;

/**
 * Converts an amount from the smallest unit to the token's unit.
 *
 * @returns without trailing zeros
 */
export function decimalOf(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  const part = digits.slice(point).replace(/0+$/, "");
  return digits.slice(0, point) + (part && `.${part}`);
}

/** Returns an amount of the chain's coin as people write it. */
export function ether(wei: bigint) {
  return `${decimalOf(wei, COIN_DECIMALS)} ETH`;
}
