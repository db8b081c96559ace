/**
 * Finds and removes characters that hide, reverse or move text, and so could make a person sign something other than what
 * is shown.
 */

/** Characters without a visible form: those that Unicode lets fonts ignore, all format characters, and three blanks. */
const HIDING = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\u2800]|\u{16fe4}|\u{1d159}/u;
/** Where an emoji needs such a character: its coloured form, a keycap, and the joint of two emoji. */
const IN_EMOJI =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=\p{Extended_Pictographic})/gu;

/**
 * Replaces characters that do not show, and all white space, with single blanks, so that a text becomes one plain line.
 *
 * @param {string} text
 */
export function plainLine(text) {
  return text.replace(new RegExp(`(?:${HIDING.source}|[\\p{Cc}\\s])+`, "gu"), " ").trim();
}

/**
 * @param {string} text
 * @returns {boolean} whether the text has characters that do not show
 */
export function hidesCharacters(text) {
  return HIDING.test(text.replace(IN_EMOJI, ""));
}
