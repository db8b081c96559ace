/** The payment sheet: what a payment moves, to whom, on which chain and at what fee, before anything is signed. */

import { type Child, el } from "./el.ts";

type SheetKey = keyof typeof import("../texts/en/sheet.ts").default;

/** returns a text in the person's language */
type Say = (key: SheetKey, values?: Record<string, string | number>) => string;

export interface Payment {
  /** with its unit */ amount: string;
  warnings: (string | false)[];
  /** rows above the payee's */ above?: Child[];
  payee: { address: string; did?: string | null; name?: string };
  /**
   * what the chain says of the payee: that the account belongs to the DID or name; nothing that proves it; nothing at
   * all
   */
  trust: "verified" | "unproven" | "address";
  /** about the payee, instead of the text for `trust` */ said?: string;
  /** whether this browser has paid the address before */ paid: "known" | "new" | "alike";
  /** about the payee */ more: Child[];
  chain: Child[];
  /** what `feeText` returned, or why the fee is not known yet */ fee: string;
  /** rows below the fee's */ below: Child[];
}

export function sheet(
  say: Say,
  { amount, warnings, above = [], payee, trust, said, paid, more, chain, fee, below }: Payment,
): HTMLElement {
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

export function row(label: string, ...values: Child[]) {
  return el("div", {}, el("dt", {}, label), el("dd", {}, ...values));
}

/**
 * Shows a full address in groups of four digits for comparison. The copied address contains no spaces.
 *
 * @param value 0x-hex
 * @param name by which scripts and tests find it
 */
export function address(value: string, name?: string) {
  const groups = value.slice(2).match(/.{1,4}/g) ?? [];
  const parts = groups.flatMap((group) => [el("wbr"), el("span", {}, group)]);
  return el("span", { class: "address", "data-name": name }, el("span", {}, "0x"), ...parts);
}

/** @param cost the most that the account may pay, with its unit */
export function feeText(say: Say, { sponsored }: { sponsored: boolean }, cost: string) {
  return sponsored ? say("sheet.fee.sponsored") : say("sheet.fee.own", { fee: cost });
}
