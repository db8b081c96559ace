/** What the pages say when a second key must sign: before the browser asks for a passkey, and if the key is missing. */

import { facts, keysText } from "../../kit/stored.ts";
import { SecondKeyMissing } from "../library.ts";
import { confirmed } from "./dialog.ts";
import { text } from "./language.ts";
import { ProblemError } from "./problems.ts";

/** @param names of the passkeys of which one signs @throws {ProblemError} the person does not go on */
export async function confirmedSecond(names: string[]) {
  const name = names.map((it) => it || text("passkeys.unnamed")).join(", ");
  const question = { heading: text("second.heading"), words: text("second.text", { name }), yes: text("second.yes") };
  if (!(await confirmed(question))) throw new ProblemError("second.no");
}

/**
 * Returns what to tell the person instead of the error that names the missing key by its bytes.
 *
 * @param did of the vault
 * @returns the same error if no key is missing
 */
export async function explainedMissing(error: unknown, did: string): Promise<unknown> {
  return error instanceof SecondKeyMissing
    ? new ProblemError("second.missing", { keys: keysText(error.keys, await facts(did)) })
    : error;
}
