/** Translates texts and formats amounts for the person's language. */

import { preferred } from "../kit/languages.js";
import en from "./texts.en.js";

/** @typedef {keyof typeof en} TextKey */

/** The page's language, which the person may have changed on the service's other pages. */
export const language = /** @type {"en" | "de"} */ (preferred(["en", "de"]));
const texts = language === "de" ? (await import("./texts.de.js")).default : en;

/**
 * @param {TextKey} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function text(key, values = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/**
 * Formats an amount with all its digits for the person's language.
 *
 * @param {string} decimal such as "12.5"
 * @param {{symbol: string, least?: number}} unit `least`: decimal places that are always shown
 * @returns {string}
 */
export function amountText(decimal, { symbol, least = 0 }) {
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: least, maximumFractionDigits: 20 });
  return `${format.format(/** @type {any} */ (decimal))}\u00a0${symbol}`;
}
