/** The texts of the exit page, by language. {name} is replaced with a value. */

import DE from "../texts/de/exit.js";
import EN from "../texts/en/exit.js";

/** @typedef {keyof typeof EN} TextKey */

/** @type {Record<string, Record<TextKey, string>>} */
const TABLES = { en: EN, de: DE };
export const LANGUAGES = Object.keys(TABLES);

/**
 * @param {string} language
 * @returns {(key: TextKey, values?: Record<string, unknown>) => string}
 */
export function textsOf(language) {
  return (key, values = {}) => TABLES[language][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
