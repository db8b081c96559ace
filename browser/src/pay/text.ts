/** Translates texts and formats amounts for the person's language. */

import { filled } from "../kit/filled.ts";
import { preferred } from "../kit/languages.ts";
import { money } from "../kit/money.ts";
import en from "../texts/en/pay.ts";

export type TextKey = keyof typeof en;

/** The page's language, which the person may have changed on the service's other pages. */
export const language = preferred(["en", "de"]) as "en" | "de";
const texts = language === "de" ? (await import("../texts/de/pay.ts")).default : en;

export function text(key: TextKey, values: Record<string, string | number> = {}) {
  return filled(texts[key], values);
}

/**
 * Formats an amount with all its digits for the person's language.
 *
 * @param decimal such as "12.5"
 * @param unit `least`: decimal places that are always shown
 */
export function amountText(decimal: string, unit: { symbol: string; least?: number }) {
  return money(language, decimal, unit);
}
