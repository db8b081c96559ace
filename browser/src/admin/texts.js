/** Texts and times in the operator's language. */

import { filled } from "../kit/filled.js";
import { REMEMBERED, offered, preferred } from "../kit/languages.js";
import de from "../texts/de/admin.js";
import en from "../texts/en/admin.js";

/** @typedef {keyof typeof en} TextKey */

const TABLES = { en, de };
const KNOWN = /** @type {(keyof typeof TABLES)[]} */ (Object.keys(TABLES));
let language = /** @type {keyof typeof TABLES} */ (preferred(KNOWN));

export function tongue() {
  return language;
}

/** Returns the other language that the operator offers, or null. */
export function otherTongue() {
  return KNOWN.find((name) => name !== language && offered(KNOWN).includes(name)) ?? null;
}

/** Switches to the other language, and remembers the choice. */
export function switchTongue() {
  language = otherTongue() ?? language;
  try {
    localStorage.setItem(REMEMBERED, language);
  } catch {
    // the choice lasts until the page is closed
  }
}

/**
 * @param {TextKey} key
 * @param {Record<string, string | number>} [values]
 */
export function text(key, values = {}) {
  return filled(TABLES[language][key], values);
}

/** @param {string} word of the service, such as a state @returns {string} the word itself if it has no text */
export function named(word) {
  return word in en ? text(/** @type {TextKey} */ (word)) : word;
}

/** Returns what an action of the audit is called. @param {string} action */
export function actionName(action) {
  const key = `audit.${action}`;
  return key in en ? text(/** @type {TextKey} */ (key)) : action;
}

/** @param {string | number} time */
export function moment(time) {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(
    new Date(typeof time === "number" ? time * 1000 : time),
  );
}
