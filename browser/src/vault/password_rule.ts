/**
 * Judges new passwords by the rule of the Python client (src/holdfast/client/vault/passwords.py): the cases of both are
 * in vectors/passwords/rule.json. Pure.
 */

import { WORDS } from "../generated/passwords.ts";

const LEAST = 12;
const NEVER_BELOW = 8;
const LEAST_DIFFERENT = 5;
const LEAST_UNFORESEEN = 7;
const ROWS = ["qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm", "1234567890"];
const NEIGHBOURS = new Set(
  ROWS.flatMap((row) => [...row].slice(1).flatMap((key, at) => [row[at] + key, key + row[at]])),
);

const WORD = new RegExp(WORDS.join("|"), "g");

/**
 * @param least characters
 * @returns what is wrong with it
 */
export function weakness(password: string, least: number = LEAST): "" | "short" | "simple" {
  const characters = [...password];
  if (characters.length < least) return "short";
  return new Set(characters).size < LEAST_DIFFERENT || unforeseen(password) < LEAST_UNFORESEEN ? "simple" : "";
}

/**
 * @param least characters
 * @throws {TypeError} it is weak, or so short a one may not be allowed; the message does not quote it
 */
export function checkPassword(password: string, least: number = LEAST) {
  if (least < NEVER_BELOW)
    throw new TypeError(`the minimum length of passwords cannot be below ${NEVER_BELOW} characters`);
  const found = weakness(password, least);
  if (found === "short")
    throw new TypeError(`the password is too short: use at least ${least} characters, for example several words`);
  if (found) throw new TypeError("the password is too simple: use several words that do not belong together");
}

/** Counts the characters that neither repeat nor continue what stands before them. */
function unforeseen(password: string) {
  const small = password.toLowerCase();
  const once = small.slice(0, (small + small).indexOf(small, 1));
  const characters = [...once.replace(WORD, "\0")];
  return characters.filter((it, at) => at === 0 || !follows(characters[at - 1], it)).length;
}

function follows(before: string, after: string) {
  const step = Number(after.codePointAt(0)) - Number(before.codePointAt(0));
  return Math.abs(step) <= 1 || NEIGHBOURS.has(before + after);
}
