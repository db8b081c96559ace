/** The texts of the exit page, by language. */

import { filled } from "../kit/filled.js";
import DE from "../texts/de/exit.js";
import EN from "../texts/en/exit.js";

/** @typedef {keyof typeof EN} TextKey */

/** @type {Record<string, Record<TextKey, string>>} */
const TABLES = { en: EN, de: DE };
export const LANGUAGES = Object.keys(TABLES);

/**
 * @param {string} language
 * @returns {(key: TextKey, values?: Record<string, any>) => string}
 */
export function textsOf(language) {
  return (key, values = {}) => filled(TABLES[language][key], values);
}
