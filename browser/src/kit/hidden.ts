/**
 * Removes characters that hide, reverse or move text, and so could make a person sign something other than what
 * is shown.
 */

/** Characters without a visible form: those that Unicode lets fonts ignore, all format characters, and three blanks. */
export const HIDING = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\u2800]|\u{16fe4}|\u{1d159}/u;

/**
 * Replaces characters that do not show, and all white space, with single blanks, so that a text becomes one plain line.
 */
export function plainLine(text: string) {
  return text.replace(new RegExp(`(?:${HIDING.source}|[\\p{Cc}\\s])+`, "gu"), " ").trim();
}
