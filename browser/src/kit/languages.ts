/** Selects the language of the service's pages: the person's choice, else the browser's, else the operator's first. */

import { meta } from "./meta.ts";

/** The localStorage entry with the person's choice. */
export const REMEMBERED = "holdfast-language";

/**
 * Returns the languages that the operator offers, in order (HOLDFAST_PAGES_LANGUAGES).
 *
 * @param known the languages that have a table
 */
export function offered(known: string[]): string[] {
  const named = meta("languages");
  const chosen = named.split(" ").filter((tag) => known.includes(tag));
  return chosen.length > 0 ? chosen : known;
}

export function preferred(known: string[]): string {
  const choice = offered(known);
  const wanted = [remembered(), ...navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())];
  return wanted.find((tag) => tag !== null && choice.includes(tag)) ?? choice[0];
}

function remembered() {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null; // a browser that stores nothing
  }
}
