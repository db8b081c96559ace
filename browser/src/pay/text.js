/** Texts and amounts in the person's language. */

import { TEXTS } from "./texts.js";

/** @typedef {keyof typeof TEXTS.en} TextKey */

/** Which language: the first of the browser's that there is a table for. */
export const language = /** @type {"en" | "de"} */ (
  navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => Object.hasOwn(TEXTS, tag)) ?? "en"
);

/**
 * @param {TextKey} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function text(key, values = {}) {
  return TEXTS[language][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/**
 * An amount in the person's way of writing, with all its digits.
 *
 * @param {string} decimal such as "12.5"
 * @param {{symbol: string, least?: number}} unit `least`: decimal places that are shown always
 * @returns {string}
 */
export function amountText(decimal, { symbol, least = 0 }) {
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: least, maximumFractionDigits: 20 });
  return `${format.format(/** @type {any} */ (decimal))}\u00a0${symbol}`;
}
