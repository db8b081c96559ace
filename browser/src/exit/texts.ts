/** The texts of the exit page, by language. */

import { filled, type Values } from "../kit/filled.ts";
import DE from "../texts/de/exit.ts";
import EN from "../texts/en/exit.ts";

export type TextKey = keyof typeof EN;

const TABLES: Record<string, Record<TextKey, string>> = { en: EN, de: DE };
export const LANGUAGES = Object.keys(TABLES);

export function textsOf(language: string): (key: TextKey, values?: Values) => string {
  return (key, values = {}) => filled(TABLES[language][key], values);
}
