/** Texts and times in the operator's language. */

import { filled } from "../kit/filled.ts";
import { REMEMBERED, offered, preferred } from "../kit/languages.ts";
import de from "../texts/de/admin.ts";
import en from "../texts/en/admin.ts";

export type TextKey = keyof typeof en;

const TABLES = { en, de };
const KNOWN = Object.keys(TABLES) as (keyof typeof TABLES)[];
let language = preferred(KNOWN) as keyof typeof TABLES;

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

export function text(key: TextKey, values: Record<string, string | number> = {}) {
  return filled(TABLES[language][key], values);
}

/** @param word of the service, such as a state @returns the word itself if it has no text */
export function named(word: string): string {
  return word in en ? text(word as TextKey) : word;
}

/** Returns what an action of the audit is called. */
export function actionName(action: string) {
  const key = `audit.${action}`;
  return key in en ? text(key as TextKey) : action;
}

export function moment(time: string | number) {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(
    new Date(typeof time === "number" ? time * 1000 : time),
  );
}
