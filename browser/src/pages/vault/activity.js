/** The card that lists recent events from the vault's own database and the service's record. */

import { amount, moment, text } from "../parts/language.js";
import { el, paragraph } from "../parts/nodes.js";
import { card } from "./card.js";

const SHOWN = 20;

/** @param {import("./home.js").Facts} known */
export function activityCard({ record, credentials, delegations, sent }) {
  /** @type {[string, string][]} time and sentence */
  const events = credentials.map((it) => [it.created_at, text("activity.passkey", { name: it.device_name || text("passkeys.unnamed") })]);
  if (record) events.push([record.createdAt, text("activity.registered", { identifier: record.identifier })]);
  for (const it of sent) events.push([it.time, text(`activity.${it.state}`, { amount: amount(it.amount, it.symbol), to: it.to })]);
  for (const it of delegations) {
    events.push([it.created_at, text("activity.delegation", { to: it.audience })]);
    if (it.revoked_at) events.push([it.revoked_at, text("activity.revoked", { to: it.audience })]);
  }
  events.sort((one, other) => Date.parse(other[0]) - Date.parse(one[0]));
  return card(
    "activity",
    text("vault.activity"),
    events.length === 0 && paragraph("vault.activity.none"),
    el("ul", { class: "rows" }, ...events.slice(0, SHOWN).map(([time, sentence]) => el("li", {}, el("p", {}, sentence), el("p", { class: "small" }, moment(time))))),
  );
}
