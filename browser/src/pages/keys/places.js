/**
 * Checks the sequence of a change among the account's changes, which only the chain's endpoint states. A change that is
 * signed for a later sequence than the next could be submitted when the person no longer wants it.
 */

import "./texts.js";
import { changeFacts, facts } from "../../kit/notes.js";
import { confirmed } from "../parts/dialog.js";
import { counted, text } from "../parts/language.js";
import { ProblemError } from "../parts/problems.js";
import { ready } from "../parts/vault_client.js";

/**
 * Returns the next sequence. If the chain has changes that this browser does not know, their record must be complete, and
 * the person must know them.
 *
 * @param {import("../../account/keys.js").AccountKeys} keys
 * @returns {Promise<number | null>} null if the person does not go on
 * @throws {ProblemError} the endpoint shows fewer changes than this browser has made, or more than it proves
 */
export async function nextSequence(keys) {
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

/**
 * Notes how many changes of an account are known here.
 *
 * @param {string} address
 * @param {{brought?: number, signed?: number}} known
 */
export async function noteSequences(address, { brought = 0, signed = brought }) {
  await changeFacts(await vaultDid(), ({ places }) => {
    const before = places?.[address] ?? [0, 0];
    const after = [Math.max(before[0], brought), Math.max(before[1], signed)];
    return { places: { ...places, [address]: /** @type {[number, number]} */ (after) } };
  });
}

async function vaultDid() {
  return (await (await ready()).vault.query()).did;
}
