/** Amounts of tokens: exact decimals, and how people read them. */

/**
 * Converts an amount exactly from the smallest unit to the token's unit.
 *
 * @param {bigint} amount
 * @param {number} decimals
 * @returns {string} without trailing zeros
 */
export function decimalOf(amount, decimals) {
  const digits = amount.toString().padStart(decimals + 1, "0");
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, "");
}

/**
 * Formats a decimal number with all its digits. Intl receives the decimal as a string, because a Number would lose
 * digits.
 *
 * @param {string} language
 * @param {string} decimal such as "12.500000"
 * @param {{symbol?: string, least?: number}} unit `least`: decimal places that are always shown
 */
export function money(language, decimal, { symbol, least = 0 }) {
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: least, maximumFractionDigits: 20 });
  const digits = format.format(/** @type {any} */ (decimal));
  return symbol ? `${digits}\u00a0${symbol}` : digits;
}
