/** Remembers the language that the person chooses. */

import { REMEMBERED } from "./languages.js";

/** @param {string} language */
export function remember(language) {
  try {
    localStorage.setItem(REMEMBERED, language);
  } catch {
    // the choice lasts until the page is closed
  }
}
