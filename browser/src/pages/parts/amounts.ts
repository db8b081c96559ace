/** The amounts that a person types. */

import { groupedDigits, units } from "../../kit/typed_amount.ts";
import { language, text } from "./language.ts";

/**
 * @param typed in the page's language
 * @returns `value`: in the smallest unit; `bad`: what is wrong with it, or empty
 */
export function typedAmount(typed: string, decimals: number): { value: bigint; bad: string } {
  const digits = groupedDigits(language, typed);
  const value = (!digits && units(typed, decimals)) || 0n;
  const bad = digits ? text("amount.unclear", { typed, digits }) : value ? "" : text("amount.bad", { decimals });
  return { value, bad };
}

/** Writes an amount as a person types it in the page's language. */
export function asTyped(decimal: string) {
  const format = new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 20 });
  return format.format(decimal as Intl.StringNumericLiteral);
}
