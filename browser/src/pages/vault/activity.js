/**
 * The card that lists recent events: from the vault's own database, the service's record, and the chain, which knows
 * every payment in and out, whichever device sent it. Names and purposes are those that the vault's devices noted.
 */

import { amount, moment, text } from "../parts/language.js";
import { button, el, paragraph } from "../parts/nodes.js";
import { go } from "../parts/router.js";
import { run } from "../parts/screen.js";
import { sentRows, shareSent } from "../../kit/notes.js";
import { ready } from "../parts/vault_client.js";
import { card } from "./card.js";
import { USDC, USDC_DECIMALS } from "./permission.js";
import { decimalOf, isSamePayment, namer } from "./values.js";

const SHOWN = 20;

/**
 * @typedef {import("../../kit/notes.js").Sent} Sent
 * @typedef {{direction: "in" | "out", token: string, from: string, to: string, amount: string, tx_hash: string,
 *   time: string}} Transfer
 * @typedef {{time: string, words: string, more?: Node[]}} Event
 */

/** @param {import("./home.js").Facts} known */
export function activityCard(known) {
  const list = el("ul", { class: "rows" });
  const none = paragraph("vault.activity.none");
  const state = el("div");
  const made = card("activity", text("vault.activity"), none, list, state);
  /** @type {Transfer[]} */
  let transfers = [];
  const drawn = (/** @type {Transfer[]} */ found = transfers) => {
    transfers = found;
    const events = [...vaultEvents(known), ...payments(known.sent, transfers, known.open)];
    events.sort((one, other) => Date.parse(other.time) - Date.parse(one.time));
    const opened = new Set([...list.querySelectorAll("details[open]")].map(receiptsHash));
    list.replaceChildren(...events.slice(0, Math.max(SHOWN, transfers.length)).map(row));
    for (const it of list.querySelectorAll("details")) it.open = opened.has(receiptsHash(it));
    none.hidden = events.length > 0;
  };
  drawn();
  void filled(drawn, state);
  void othersNotes(known, drawn);
  return made;
}

/**
 * Adds what other devices of the vault noted.
 *
 * @param {import("./home.js").Facts} known
 * @param {() => void} drawn
 */
async function othersNotes(known, drawn) {
  if (!(await shareSent(await ready()))) return;
  known.sent = await sentRows(known.did);
  drawn();
}

/**
 * Adds the payments on the chain, and a button for older ones.
 *
 * @param {(transfers: Transfer[]) => void} drawn
 * @param {HTMLElement} state
 */
async function filled(drawn, state) {
  if (!USDC) return;
  /** @type {Transfer[]} */
  const found = [];
  const more = async (/** @type {string | null} */ cursor) => {
    const client = await ready();
    const { address } = await client.account();
    const page = await client.indexerTransfers(address, cursor ? { cursor } : {});
    found.push(...page.transfers);
    drawn(found);
    const next = page.next_cursor;
    const older = (/** @type {any} */ event) => run(event.currentTarget, () => more(next), text("working"));
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

/** @param {import("./home.js").Facts} known @returns {Event[]} */
function vaultEvents({ record, credentials, delegations }) {
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
 * @param {Sent[]} sent
 * @param {Transfer[]} transfers
 * @param {Set<string>} [open] the hashes of payments that can be replaced at a higher fee
 * @returns {Event[]}
 */
export function payments(sent, transfers, open = new Set()) {
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

/**
 * The button that offers a payment again, with the same nonce and thus in place of the open one, at a higher fee.
 *
 * @param {Sent} note
 */
function againButton({ to, address = to, amount: decimal, symbol, shop, label }) {
  const again = { to, address, shop, label };
  const opened = () => go("send", { to: address, amount: decimal, symbol, again });
  return el("div", { class: "buttons" }, button(text("activity.again"), opened, { kind: "plain", name: "send-again" }));
}

/** @param {Transfer} transfer */
function decimalOfTransfer({ amount: units }) {
  return decimalOf(BigInt(units), USDC_DECIMALS);
}

/** @param {Transfer} transfer */
function shownAmount(transfer) {
  return amount(decimalOfTransfer(transfer), "USDC");
}

/**
 * @param {Transfer} transfer
 * @param {Sent | null} note
 */
function receiptOf(transfer, note) {
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

/**
 * The receipt of a payment that the chain's list lacks: of another token, or not mined (yet).
 *
 * @param {Sent} note
 */
function receiptOfNote({ hash, to, address = to, amount: decimal, symbol, time, shop, label }) {
  return receipt(hash, [
    ["receipt.amount", amount(decimal, symbol)],
    ["receipt.shop", shop],
    ["receipt.purpose", label],
    ["receipt.to", address],
    ["receipt.time", moment(time)],
    ["send.hash", hash],
  ]);
}

/**
 * @param {string} hash the payment's, by which a list that is drawn again knows which receipts the person has open
 * @param {[import("../parts/language.js").TextKey, string | undefined][]} lines
 */
function receipt(hash, lines) {
  const shown = lines
    .filter(([, value]) => value)
    .flatMap(([key, value]) => [el("dt", {}, text(key)), el("dd", { class: "mono" }, value)]);
  return el("details", { "data-of": hash }, el("summary", {}, text("receipt.summary")), el("dl", {}, ...shown));
}

/** @param {Element} shown a receipt @returns {string | null} */
function receiptsHash(shown) {
  return shown.getAttribute("data-of");
}

/** @param {Event} event */
function row({ time, words, more }) {
  return el("li", {}, el("p", {}, words), el("p", { class: "small" }, moment(time)), ...(more ?? []));
}
