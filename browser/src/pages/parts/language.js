/** Texts, numbers and dates in the page's language, which `languages.js` selects. */

import de from "../texts.de.js";
import en from "../texts.en.js";
import { offered, preferred, remember } from "../../kit/languages.js";

/** @type {Record<string, Record<string, string>>} */
const TABLES = { en, de };
const KNOWN = Object.keys(TABLES);

/** "en" or "de". */
export let language = preferred(KNOWN);

/** Returns the language to switch to, or null if the operator offers only one. */
export function otherLanguage() {
  const choice = offered(KNOWN);
  return choice.length > 1 ? choice[(choice.indexOf(language) + 1) % choice.length] : null;
}

/** Switches to the other language, and remembers the choice. */
export function switchLanguage() {
  language = otherLanguage() ?? language;
  remember(language);
}

/**
 * Returns the text for a key.
 *
 * @param {string} key
 * @param {Record<string, string | number>} [values] the values that replace {name}
 * @returns {string}
 */
export function text(key, values = {}) {
  const found = TABLES[language][key];
  if (found === undefined) throw new TypeError(`no text: ${key}`);
  return found.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/**
 * Returns the text for a count in its singular or plural form: `key.one` or `key.other`.
 *
 * @param {string} key
 * @param {number} n
 */
export function counted(key, n) {
  const form = new Intl.PluralRules(language).select(n) === "one" ? "one" : "other";
  return text(`${key}.${form}`, { n });
}

/**
 * Formats a date and time in the page's language.
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
 * Formats a decimal number with all its digits. Intl receives the decimal as a string, because a Number would lose
 * digits.
 *
 * @param {string} decimal such as "12.500000"
 * @param {string} [symbol]
 */
export function amount(decimal, symbol = "") {
  const format = new Intl.NumberFormat(language, { maximumFractionDigits: 20, minimumFractionDigits: 2 });
  const digits = format.format(/** @type {any} */ (decimal));
  return symbol ? `${digits}\u00a0${symbol}` : digits;
}
