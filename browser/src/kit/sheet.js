/** The payment sheet: what a payment moves, to whom, on which chain and at what fee, before anything is signed. */

import { el } from "./el.js";

/**
 * @typedef {keyof typeof import("../texts/en/sheet.js").default} SheetKey
 * @typedef {(key: SheetKey, values?: Record<string, string | number>) => string} Say returns a text in the person's language
 * @typedef {import("./el.js").Child} Child
 *
 * @typedef {object} Payment
 * @property {string} amount with its unit
 * @property {(string | false)[]} warnings
 * @property {Child[]} [above] rows above the payee's
 * @property {{address: string, did?: string | null, name?: string}} payee
 * @property {"verified" | "unproven" | "address"} trust what the chain says of the payee: that the account belongs to the
 *   DID or name; nothing that proves it; nothing at all
 * @property {string} [said] about the payee, instead of the text for `trust`
 * @property {"known" | "new" | "alike"} paid whether this browser has paid the address before
 * @property {Child[]} more about the payee
 * @property {Child[]} chain
 * @property {string} fee what `feeText` returned, or why the fee is not known yet
 * @property {Child[]} below rows below the fee's
 */

/**
 * @param {Say} say
 * @param {Payment} payment
 * @returns {HTMLElement}
 */
export function sheet(say, { amount, warnings, above = [], payee, trust, said, paid, more, chain, fee, below }) {
  const look = trust === "unproven" ? "bad" : trust === "verified" && paid === "known" && "good";
  return el(
    "div",
    {},
    el("p", { class: "amount", id: "amount" }, amount),
    ...[...warnings, paid === "alike" && say("sheet.alike")].map((it) => it && el("p", { class: "notice strong" }, it)),
    el(
      "dl",
      { class: "facts" },
      ...above,
      row(
        say("sheet.payee"),
        payee.name && el("strong", {}, payee.name),
        payee.did && el("span", { class: "did" }, payee.did),
        address(payee.address, "payee"),
        el("small", { class: look, "data-name": "trust" }, said ?? say(`sheet.trust.${trust}`)),
        paid !== "alike" && el("small", {}, say(`sheet.${paid}`)),
        ...more,
      ),
      row(say("sheet.chain"), ...chain),
      row(say("sheet.fee"), el("span", { id: "fee" }, fee)),
      ...below,
    ),
  );
}

/** @param {string} label @param {...Child} values */
export function row(label, ...values) {
  return el("div", {}, el("dt", {}, label), el("dd", {}, ...values));
}

/**
 * Shows a full address in groups of four digits for comparison. The copied address contains no spaces.
 *
 * @param {string} value 0x-hex
 * @param {string} [name] by which scripts and tests find it
 */
export function address(value, name) {
  const groups = value.slice(2).match(/.{1,4}/g) ?? [];
  const parts = groups.flatMap((group) => [el("wbr"), el("span", {}, group)]);
  return el("span", { class: "address", "data-name": name }, el("span", {}, "0x"), ...parts);
}

/**
 * @param {Say} say
 * @param {{sponsored: boolean}} fee
 * @param {string} cost the most that the account may pay, with its unit
 */
export function feeText(say, { sponsored }, cost) {
  return sponsored ? say("sheet.fee.sponsored") : say("sheet.fee.own", { fee: cost });
}
