/** Stores what this browser remembers about vaults and payments. No entry is secret. */

import type { Client } from "../client.ts";
import type { Tried } from "../pages/drill/ways.ts";
import { sentNote, withStore } from "../vault/store.ts";

const MAX_SENT = 1000;

/**
 * about a vault, by its DID, or a delegation, by its CID; `origin`: of the application that requested it; `copyAt`:
 * when the last tried copy on the service was written; `account`: the address to pay from, if another key created it;
 * `lost`: the one that this service was asked to bring back; `keyNames`: what the person calls keys of accounts;
 * `moved`: to which service the vault was moved, and how it ended; `places`: of each account, the places after the last change that was brought, and that was signed
 */
export type Facts = {
  backupAt?: number;
  copyAt?: number;
  identifier?: string;
  origin?: string;
  account?: string;
  lost?: string;
  keyNames?: Record<string, string>;
  moved?: Moved;
  places?: Record<string, [number, number]>;
  tried?: Tried;
};

/** a move to the service at `address`, which has `identifier` since; `leftBehind`: names that stayed */
export type Moved = {
  address: string;
  identifier: string;
  leftBehind: string[];
  isOwner: boolean;
  missingOn: string[];
};

export async function facts(of: string): Promise<Facts> {
  return (await withStore((store) => store.note(`pages:facts:${of}`))) ?? {};
}

/**
 * Returns what the person calls keys of accounts, or else the four digits with which their codes begin and end.
 *
 * @param of the facts about the vault
 */
export function keysText(signers: string[], { keyNames }: Facts) {
  return signers.map((it) => keyNames?.[it] ?? `${it.slice(2, 6)} … ${it.slice(-4)}`).join(", ");
}

/**
 * a payment: `hash` of the operation; `to`: as the person knows the payee; `amount`: decimal; `shop`: the host that
 * asked for it, `label` in the shop's words
 */
export type Sent = {
  hash: string;
  to: string;
  address?: string;
  amount: string;
  symbol: string;
  time: string;
  state: "sent" | "confirmed" | "failed";
  shop?: string;
  label?: string;
};

/**
 * Gives the vault's other devices what this browser noted about payments, and notes what they noted. Without them, or
 * while the service does not respond, the notes of this browser stay as they are.
 *
 * @param client whose vault is open
 * @returns whether all devices' notes are known now
 */
export function shareSent(client: Client): Promise<boolean> {
  return client
    .snapshots()
    .then((it) => it.exchangeNotes())
    .then(
      () => true,
      () => false,
    );
}

/** Records a payment or its result. A payment without a note, as where the storage is full, is still a payment. */
export function noteSent(did: string, row: Sent) {
  const change = (before: Sent[] | null) =>
    [...(before ?? []).filter(({ hash }) => hash !== row.hash), row].slice(-MAX_SENT);
  return withStore((store) => store.changeNote(sentNote(did), change)).catch(() => {});
}
