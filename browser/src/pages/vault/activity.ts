/**
 * The card that lists recent events: from the vault's own database, the service's record, and the chain, which knows
 * every payment in and out, whichever device sent it. Names and purposes are those that the vault's devices noted.
 */

import type { IndexerTransfers } from "../../http/service.ts";
import type { Sent } from "../../kit/stored.ts";
import { asTyped } from "../parts/amounts.ts";
import { amount, moment, text, type TextKey } from "../parts/language.ts";
import { button, el, paragraph, type Press } from "../parts/nodes.ts";
import { go } from "../parts/router.ts";
import { run } from "../parts/screen.ts";
import { sentRows, shareSent } from "../../kit/notes.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "./card.ts";
import type { Facts } from "./home.ts";
import { USDC, USDC_DECIMALS } from "./permission.ts";
import { decimalOf, isSamePayment, namer } from "./values.ts";

const SHOWN = 20;

type Transfer = IndexerTransfers["transfers"][number];

type Event = { time: string; words: string; more?: Node[] };

export function activityCard(known: Facts) {
  const list = el("ul", { class: "rows" });
  const none = paragraph("vault.activity.none");
  const state = el("div");
  const made = card("activity", text("vault.activity"), none, list, state);
  let transfers: Transfer[] = [];
  const drawn = (found: Transfer[] = transfers) => {
    transfers = found;
    const events = [...vaultEvents(known), ...payments(known.sent, transfers, known.open)];
    events.sort((one, other) => Date.parse(other.time) - Date.parse(one.time));
    const opened = new Set([...list.querySelectorAll("details[open]")].map(receiptsHash));
    const now = el("ul", { class: "rows" }, ...events.slice(0, Math.max(SHOWN, transfers.length)).map(row));
    for (const it of now.querySelectorAll("details")) it.open = opened.has(receiptsHash(it));
    if (!list.isEqualNode(now)) list.replaceChildren(...now.childNodes); // a click on what is replaced is lost
    none.hidden = events.length > 0;
  };
  drawn();
  void filled(drawn, state);
  void othersNotes(known, drawn);
  return made;
}

/** Adds what other devices of the vault noted. */
async function othersNotes(known: Facts, drawn: () => void) {
  if (!(await shareSent(await ready()))) return;
  known.sent = await sentRows(known.did);
  drawn();
}

/** Adds the payments on the chain, and a button for older ones. */
async function filled(drawn: (transfers: Transfer[]) => void, state: HTMLElement) {
  if (!USDC) return;
  const found: Transfer[] = [];
  const more = async (cursor: string | null) => {
    const client = await ready();
    const { address } = await client.account();
    const page = await client.indexerTransfers(address, cursor ? { cursor } : {});
    found.push(...page.transfers);
    drawn(found);
    const next = page.next_cursor;
    const older = (event: Press) => run(event.currentTarget, () => more(next), text("working"));
    state.replaceChildren(
      ...(next
        ? [el("div", { class: "buttons" }, button(text("activity.older"), older, { kind: "plain", name: "older" }))]
        : []),
    );
  };
  await more(null).catch(
    (error) =>
      error?.code !== "indexer_not_configured" && state.replaceChildren(paragraph("activity.unknown", {}, "small")),
  );
}

function vaultEvents({ record, credentials, delegations }: Facts): Event[] {
  const events = credentials.map((it) => ({
    time: it.created_at,
    words: text("activity.passkey", { name: it.device_name || text("passkeys.unnamed") }),
  }));
  if (record)
    events.push({ time: record.createdAt, words: text("activity.registered", { identifier: record.identifier }) });
  for (const it of delegations) {
    events.push({ time: it.created_at, words: text("activity.delegation", { to: it.audience }) });
    if (it.revoked_at) events.push({ time: it.revoked_at, words: text("activity.revoked", { to: it.audience }) });
  }
  return events;
}

/**
 * Returns each payment once: what the chain knows, with the names under which this vault has paid the addresses, and
 * what the chain does not know (yet).
 *
 * @param open the hashes of payments that can be replaced at a higher fee
 */
export function payments(sent: Sent[], transfers: Transfer[], open: Set<string> = new Set()): Event[] {
  const left = [...sent];
  const named = namer(sent);
  const onChain = transfers.map((it) => {
    const at = it.direction === "out" ? left.findIndex((note) => isSamePayment(note, it)) : -1;
    const [note] = at < 0 ? [null] : left.splice(at, 1);
    const given = { amount: shownAmount(it), from: named(it.from), to: note?.shop ?? note?.to ?? named(it.to) };
    const words = text(it.direction === "in" ? "activity.received" : "activity.confirmed", given);
    return { time: it.time, words, more: [receiptOf(it, note)] };
  });
  const noted = left.map((it) => ({
    time: it.time,
    words: text(`activity.${it.state}`, { amount: amount(it.amount, it.symbol), to: it.shop ?? it.to }),
    more: [...(it.state === "sent" && open.has(it.hash) ? [againButton(it)] : []), receiptOfNote(it)],
  }));
  return [...onChain, ...noted];
}

/** The button that offers a payment again, with the same nonce and thus in place of the open one, at a higher fee. */
function againButton({ to, address = to, amount: decimal, symbol, shop, label }: Sent) {
  const again = { to, address, shop, label };
  const opened = () => go("send", { to: address, amount: asTyped(decimal), symbol, again });
  return el("div", { class: "buttons" }, button(text("activity.again"), opened, { kind: "plain", name: "send-again" }));
}

function decimalOfTransfer({ amount: units }: Transfer) {
  return decimalOf(BigInt(units), USDC_DECIMALS);
}

function shownAmount(transfer: Transfer) {
  return amount(decimalOfTransfer(transfer), "USDC");
}

function receiptOf(transfer: Transfer, note: Sent | null) {
  const { from, to, tx_hash: hash, time } = transfer;
  return receipt(hash, [
    ["receipt.amount", shownAmount(transfer)],
    ["receipt.shop", note?.shop],
    ["receipt.purpose", note?.label],
    ["receipt.from", from],
    ["receipt.to", to],
    ["receipt.time", moment(time)],
    ["receipt.transaction", hash],
  ]);
}

/** The receipt of a payment that the chain's list lacks: of another token, or not mined (yet). */
function receiptOfNote({ hash, to, address = to, amount: decimal, symbol, time, shop, label }: Sent) {
  return receipt(hash, [
    ["receipt.amount", amount(decimal, symbol)],
    ["receipt.shop", shop],
    ["receipt.purpose", label],
    ["receipt.to", address],
    ["receipt.time", moment(time)],
    ["send.hash", hash],
  ]);
}

/** @param hash the payment's, by which a list that is drawn again knows which receipts the person has open */
function receipt(hash: string, lines: [TextKey, string | undefined][]) {
  const shown = lines
    .filter(([, value]) => value)
    .flatMap(([key, value]) => [el("dt", {}, text(key)), el("dd", { class: "mono" }, value)]);
  return el("details", { "data-of": hash }, el("summary", {}, text("receipt.summary")), el("dl", {}, ...shown));
}

/** @param shown a receipt */
function receiptsHash(shown: Element): string | null {
  return shown.getAttribute("data-of");
}

function row({ time, words, more }: Event) {
  return el("li", {}, el("p", {}, words), el("p", { class: "small" }, moment(time)), ...(more ?? []));
}
