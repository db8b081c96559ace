/** Translates texts and formats amounts for the person's language. */

import { filled } from "../kit/filled.js";
import { preferred } from "../kit/languages.js";
import { money } from "../kit/money.js";
import en from "../texts/en/pay.js";

/** @typedef {keyof typeof en} TextKey */

/** The page's language, which the person may have changed on the service's other pages. */
export const language = /** @type {"en" | "de"} */ (preferred(["en", "de"]));
const texts = language === "de" ? (await import("../texts/de/pay.js")).default : en;

/**
 * @param {TextKey} key
 * @param {Record<string, string | number>} [values]
 */
export function text(key, values = {}) {
  return filled(texts[key], values);
}

/**
 * Formats an amount with all its digits for the person's language.
 *
 * @param {string} decimal such as "12.5"
 * @param {{symbol: string, least?: number}} unit `least`: decimal places that are always shown
 */
export function amountText(decimal, unit) {
  return money(language, decimal, unit);
}
