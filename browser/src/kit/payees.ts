/** Remembers the addresses that this browser has paid, and detects addresses that only look like one of them. */

import { withStore } from "../vault/store.ts";

const NOTE = "payees";
const MAX_PAYEES = 500;
/** How many digits at each end of an address people are assumed to compare. */
const ENDS = 4;

/**
 * Returns whether an address was paid before, is new, or only looks like one that was paid before. Pure.
 *
 * @param address 0x-hex
 * @returns `alike`: it begins and ends like an earlier payee's, but differs
 */
export function familiarity(address: string, paid: string[]): "known" | "new" | "alike" {
  const wanted = address.toLowerCase();
  if (paid.includes(wanted)) return "known";
  const ends = (one: string) => one.slice(2, 2 + ENDS) + one.slice(-ENDS);
  return paid.some((one) => ends(one) === ends(wanted)) ? "alike" : "new";
}

/** @returns addresses in lower case */
export function paidBefore(): Promise<string[]> {
  return withStore(async (store) => (await store.note(NOTE)) ?? []);
}

export function rememberPayee(address: string) {
  const payee = address.toLowerCase();
  const change = (before: string[] | null) =>
    [...(before ?? []).filter((one) => one !== payee), payee].slice(-MAX_PAYEES);
  return withStore((store) => store.changeNote(NOTE, change));
}
