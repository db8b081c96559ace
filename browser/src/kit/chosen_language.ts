/** Remembers the language that the person chooses. */

import { REMEMBERED } from "./languages.ts";

export function remember(language: string) {
  try {
    localStorage.setItem(REMEMBERED, language);
  } catch {
    // the choice lasts until the page is closed
  }
}
