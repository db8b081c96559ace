/** Follows the payments sent from this browser until their results are known. */

import { noteSent, sentRows } from "../../kit/notes.ts";
import type { Sent } from "../../kit/stored.ts";
import { ready } from "../parts/vault_client.ts";

const QUERIED_FOR_MS = 2000;

/** Returns the payments sent from a vault, newest last. The receipts of pending payments are requested again. */
export async function sentFrom(did: string): Promise<Sent[]> {
  const rows = await sentRows(did);
  const late = new Promise((resolve) => setTimeout(resolve, QUERIED_FOR_MS));
  await Promise.race([late, Promise.all(rows.filter(({ state }) => state === "sent").map((it) => followed(did, it)))]);
  return sentRows(did);
}

/**
 * Returns the payments that this browser has signed and that are not mined, by their hashes. They can be replaced at a
 * higher fee. What was replaced already is noted as not made.
 *
 * @returns empty if the network does not respond
 */
export async function openFrom(did: string): Promise<Set<string>> {
  const rows = await sentRows(did);
  if (!rows.some(({ state }) => state === "sent")) return new Set();
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), QUERIED_FOR_MS));
  const reply = ready().then(async (client) => (await client.account()).fates());
  const fates = await Promise.race([late, reply]).catch(() => null);
  const replaced = rows.filter(({ state, hash }) => state === "sent" && fates?.replaced.includes(hash));
  for (const row of replaced) await noteSent(did, { ...row, state: "failed" });
  return new Set(fates?.open ?? []);
}

/** Returns the names, DIDs and addresses to which a vault has made confirmed payments. */
export async function paidFrom(did: string) {
  return (await sentRows(did)).filter(({ state }) => state === "confirmed").map(({ to }) => to);
}

async function followed(did: string, row: Sent) {
  const outcome = ready()
    .then((client) => client.account())
    .then(({ bundler }) => bundler.receipt(row.hash))
    .then((receipt) => receipt && ("confirmed" as const));
  const state = await outcome.catch(({ reverted }) => (reverted ? ("failed" as const) : null));
  if (state) await noteSent(did, { ...row, state });
}
