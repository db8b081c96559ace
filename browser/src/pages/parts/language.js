/** The page's language: the person's choice, else the browser's, else English. Texts, numbers and dates follow it. */

import de from "../texts.de.js";
import en from "../texts.en.js";
import { offered, preferred, remember } from "./languages.js";

/** @type {Record<string, Record<string, string>>} */
const TABLES = { en, de };
const KNOWN = Object.keys(TABLES);

/** "en" or "de". */
export let language = preferred(KNOWN);

/** The language that a switch leads to; null where the operator offers one alone. */
export function otherLanguage() {
  const choice = offered(KNOWN);
  return choice.length > 1 ? choice[(choice.indexOf(language) + 1) % choice.length] : null;
}

/** The other language, and remembers it. */
export function switchLanguage() {
  language = otherLanguage() ?? language;
  remember(language);
}

/**
 * The text of a key.
 *
 * @param {string} key
 * @param {Record<string, string | number>} [values] what stands for {name}
 * @returns {string}
 */
export function text(key, values = {}) {
  const found = TABLES[language][key];
  if (found === undefined) throw new TypeError(`no text: ${key}`);
  return found.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/**
 * The text of a key for a number of things: `key.one` or `key.other`.
 *
 * @param {string} key
 * @param {number} n
 */
export function counted(key, n) {
  const form = new Intl.PluralRules(language).select(n) === "one" ? "one" : "other";
  return text(`${key}.${form}`, { n });
}

/**
 * A moment, for people.
 *
 * @param {string | number | Date} moment
 */
export function moment(moment) {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(moment));
}

/** @param {string | number | Date} moment */
export function day(moment) {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(new Date(moment));
}

/**
 * A decimal number with all its digits: Intl takes the text, through a Number they would be lost.
 *
 * @param {string} decimal as "12.500000"
 * @param {string} [symbol]
 */
export function amount(decimal, symbol = "") {
  const format = new Intl.NumberFormat(language, { maximumFractionDigits: 20, minimumFractionDigits: 2 });
  const digits = format.format(/** @type {any} */ (decimal));
  return symbol ? `${digits}\u00a0${symbol}` : digits;
}
