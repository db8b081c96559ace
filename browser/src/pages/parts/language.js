/** The page's language: the person's choice, else the browser's, else English. Texts, numbers and dates follow it. */

import de from "../texts.de.js";
import en from "../texts.en.js";

/** @type {Record<string, Record<string, string>>} */
const TABLES = { en, de };
const REMEMBERED = "holdfast-language";

/** "en" or "de". */
export let language = firstLanguage();

function firstLanguage() {
  const wanted = [remembered(), ...navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())];
  return wanted.find((tag) => tag && tag in TABLES) ?? "en";
}

function remembered() {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null; // a browser that stores nothing
  }
}

/** The other language, and remembers it. */
export function switchLanguage() {
  language = language === "en" ? "de" : "en";
  try {
    localStorage.setItem(REMEMBERED, language);
  } catch {
    // it holds until the page is closed
  }
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
