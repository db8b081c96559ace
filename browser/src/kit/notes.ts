/** What only the vault's pages do with the notes of this browser. */

import { sentNote, withStore } from "../vault/store.ts";
import type { Facts, Sent } from "./stored.ts";

export { facts, noteSent, shareSent } from "./stored.ts";

export function addFacts(of: string, more: Facts) {
  return changeFacts(of, () => more);
}

/** @param more returns what to add to the facts */
export function changeFacts(of: string, more: (before: Facts) => Facts) {
  const change = (before: Facts | null) => ({ ...before, ...more(before ?? {}) });
  return withStore((store) => store.changeNote(`pages:facts:${of}`, change));
}

/** @returns the payments that this browser knows of, newest last */
export async function sentRows(did: string): Promise<Sent[]> {
  return (await withStore((store) => store.note(sentNote(did)))) ?? [];
}
