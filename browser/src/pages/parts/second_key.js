/** What the pages say when a second key must sign: before the browser asks for a passkey, and if the key is missing. */

import { facts, keysText } from "../../kit/stored.js";
import { SecondKeyMissing } from "../library.js";
import { confirmed } from "./dialog.js";
import { text } from "./language.js";
import { ProblemError } from "./problems.js";

/** @param {string[]} names of the passkeys of which one signs @throws {ProblemError} the person does not go on */
export async function confirmedSecond(names) {
  const name = names.map((it) => it || text("passkeys.unnamed")).join(", ");
  const question = { heading: text("second.heading"), words: text("second.text", { name }), yes: text("second.yes") };
  if (!(await confirmed(question))) throw new ProblemError("second.no");
}

/**
 * Returns what to tell the person instead of the error that names the missing key by its bytes.
 *
 * @param {unknown} error
 * @param {string} did of the vault
 * @returns {Promise<unknown>} the same error if no key is missing
 */
export async function explainedMissing(error, did) {
  return error instanceof SecondKeyMissing
    ? new ProblemError("second.missing", { keys: keysText(error.keys, await facts(did)) })
    : error;
}
