/** Texts, numbers and dates in the page's language, which `languages.ts` selects. */

import de from "../../texts/de/pages.ts";
import en from "../../texts/en/pages.ts";
import { dateOf } from "../../kit/dates.ts";
import { filled } from "../../kit/filled.ts";
import { remember } from "../../kit/chosen_language.ts";
import { offered, preferred } from "../../kit/languages.ts";
import { money } from "../../kit/money.ts";

export type TextKey =
  | keyof typeof en
  | keyof typeof import("../../texts/en/keys.ts").default
  | keyof typeof import("../../texts/en/move.ts").default;

type CountedKey = TextKey extends infer K ? (K extends `${infer Stem}.other` ? Stem : never) : never;

const TABLES: Record<string, Record<string, string>> = { en, de };
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
 * @param more by language
 */
export function addTexts(more: Record<string, Record<string, string>>) {
  for (const name of KNOWN) Object.assign(TABLES[name], more[name]);
}

/**
 * Returns the text for a key.
 *
 * @param values the values that replace {name}
 */
export function text(key: TextKey, values: Record<string, string | number> = {}): string {
  return filled(TABLES[language][key], values);
}

/** Returns the text for a count in its singular or plural form: `key.one` or `key.other`. */
export function counted(key: CountedKey, n: number) {
  const form = new Intl.PluralRules(language).select(n) === "one" ? "one" : "other";
  return text(`${key}.${form}` as TextKey, { n });
}

/** Formats a date and time in the page's language. */
export function moment(moment: string | number | Date) {
  return written(moment, { dateStyle: "medium", timeStyle: "short" });
}

export function day(moment: string | number | Date) {
  return written(moment, { dateStyle: "medium" });
}

/** @returns a service's text that is not a time as it is */
function written(moment: string | number | Date, form: Intl.DateTimeFormatOptions) {
  const date = dateOf(moment);
  return Number.isNaN(date.getTime()) ? String(moment) : new Intl.DateTimeFormat(language, form).format(date);
}

/**
 * Formats an amount with all its digits, and at least two after the point.
 *
 * @param decimal such as "12.500000"
 */
export function amount(decimal: string, symbol?: string) {
  return money(language, decimal, { symbol, least: 2 });
}
