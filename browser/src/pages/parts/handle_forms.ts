/** Recognises names that read as something else, as the service does (`src/holdfast/rules/handle_forms.py`). Pure. */

import { BEFORE_COUNTRY, ENDINGS } from "../../generated/handle_forms.ts";

const FEWEST_DIGITS = 7; // the shortest phone numbers, with country code
const ENDING = String.raw`\.(?:(?:${ENDINGS.join("|")})|(?:${BEFORE_COUNTRY.join("|")})\.[a-z]{2})\.*`;
const HOST = new RegExp(String.raw`^(?:[a-z]+:/*)?(?:www\.|[^/:?#]*${ENDING}(?:[/:?#]|$))|${ENDING}$`, "u");

/**
 * Returns what a name reads as, or null if it is only a name.
 *
 * @param name in canonical form
 */
export function formOf(name: string): "email" | "phone" | "account" | "did" | "host" | null {
  if (/[^@]@[^@]/.test(name)) return "email";
  if (/^\+?[\p{Nd}()./-]+$/u.test(name) && (name.match(/\p{Nd}/gu) ?? []).length >= FEWEST_DIGITS) return "phone";
  if (/^0x[0-9a-f.]+$/.test(name)) return "account";
  if (name.startsWith("did:")) return "did";
  return HOST.test(name) ? "host" : null;
}
