/** Texts, numbers and dates in the page's language, which `languages.js` selects. */

import de from "../../texts/de/pages.js";
import en from "../../texts/en/pages.js";
import { filled } from "../../kit/filled.js";
import { remember } from "../../kit/chosen_language.js";
import { offered, preferred } from "../../kit/languages.js";
import { money } from "../../kit/money.js";

/**
 * @typedef {keyof typeof en | keyof typeof import("../../texts/en/keys.js").default |
 *   keyof typeof import("../../texts/en/move.js").default} TextKey
 * @typedef {TextKey extends infer K ? K extends `${infer Stem}.other` ? Stem : never : never} CountedKey
 */

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
 * Adds the texts of screens that are loaded on demand.
 *
 * @param {Record<string, Record<string, string>>} more by language
 */
export function addTexts(more) {
  for (const name of KNOWN) Object.assign(TABLES[name], more[name]);
}

/**
 * Returns the text for a key.
 *
 * @param {TextKey} key
 * @param {Record<string, string | number>} [values] the values that replace {name}
 * @returns {string}
 */
export function text(key, values = {}) {
  return filled(TABLES[language][key], values);
}

/**
 * Returns the text for a count in its singular or plural form: `key.one` or `key.other`.
 *
 * @param {CountedKey} key
 * @param {number} n
 */
export function counted(key, n) {
  const form = new Intl.PluralRules(language).select(n) === "one" ? "one" : "other";
  return text(/** @type {TextKey} */ (`${key}.${form}`), { n });
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
 * Formats an amount with all its digits, and at least two after the point.
 *
 * @param {string} decimal such as "12.500000"
 * @param {string} [symbol]
 */
export function amount(decimal, symbol) {
  return money(language, decimal, { symbol, least: 2 });
}
