/** Amounts that people type. */

/**
 * Converts a decimal number to the smallest unit: "12.5" with 6 decimals is 12500000n.
 *
 * @param decimal with a point or a comma
 * @returns null if it is not such a number
 */
export function units(decimal: string, decimals: number): bigint | null {
  const found = /^(\d+)(?:[.,](\d+))?$/.exec(decimal.trim());
  if (!found || (found[2]?.length ?? 0) > decimals) return null;
  return BigInt(found[1] + (found[2] ?? "").padEnd(decimals, "0"));
}

/**
 * Returns the thousands that a typed number reads as in a language, although a point and a comma begin its fraction
 * elsewhere: 1234 for "1.234" in German and for "1,234" in English.
 *
 * @returns empty if it reads in one way only
 */
export function groupedDigits(language: string, typed: string): string {
  const digits = typed.replace(/[.,]/g, "");
  const isGrouped = digits !== typed.trim() && new Intl.NumberFormat(language).format(Number(digits)) === typed.trim();
  return isGrouped ? digits.trim() : "";
}
