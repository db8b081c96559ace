/**
 * Checks the sequence of a change among the account's changes, which only the chain's endpoint states. A change that is
 * signed for a later sequence than the next could be submitted when the person no longer wants it.
 */

import "./texts.ts";
import type { AccountKeys } from "../../account/keys.ts";
import { changeFacts, facts } from "../../kit/notes.ts";
import { confirmed } from "../parts/dialog.ts";
import { counted, text } from "../parts/language.ts";
import { ProblemError } from "../parts/problems.ts";
import { ready } from "../parts/vault_client.ts";

/**
 * Returns the next sequence. If the chain has changes that this browser does not know, their record must be complete,
 * and the person must know them.
 *
 * @returns null if the person does not go on
 * @throws {ProblemError} the endpoint shows fewer changes than this browser has made, or more than it proves
 */
export async function nextSequence(keys: AccountKeys): Promise<number | null> {
  const { address, settings } = await keys.view();
  const [brought, signed] = (await facts(await vaultDid())).places?.[address] ?? [0, 0];
  const sequence = settings.sequence;
  if (sequence < brought) throw new ProblemError("keys.place.behind");
  if (sequence <= signed) return sequence;
  if ((await keys.history()).length < sequence) throw new ProblemError("keys.place.unproven");
  const question = {
    heading: text("keys.place.heading"),
    words: counted("keys.place.text", sequence - signed),
    yes: text("keys.place.yes"),
  };
  return (await confirmed(question)) ? sequence : null;
}

/** Notes how many changes of an account are known here. */
export async function noteSequences(
  address: string,
  { brought = 0, signed = brought }: { brought?: number; signed?: number },
) {
  await changeFacts(await vaultDid(), ({ places }) => {
    const before = places?.[address] ?? [0, 0];
    const after = [Math.max(before[0], brought), Math.max(before[1], signed)];
    return { places: { ...places, [address]: after as [number, number] } };
  });
}

async function vaultDid() {
  return (await (await ready()).vault.query()).did;
}
