/** Amounts of tokens, as people read them. */

/**
 * Formats a decimal number with all its digits. Intl receives the decimal as a string, because a Number would lose
 * digits.
 *
 * @param decimal such as "12.500000"
 * @param unit `least`: decimal places that are always shown
 */
export function money(language: string, decimal: string, { symbol, least = 0 }: { symbol?: string; least?: number }) {
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: least, maximumFractionDigits: 20 });
  const digits = format.format(decimal as Intl.StringNumericLiteral);
  return symbol ? `${digits}\u00a0${symbol}` : digits;
}
