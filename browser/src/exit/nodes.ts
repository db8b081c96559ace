/** The parts of the page: fields, facts, amounts, and what is said of a mistake. */

import { decimalOf } from "../chain/amounts.ts";
import { keccak256 } from "../did/keccak.ts";
import { digits } from "./abi.ts";
import { type Child, el, type Props } from "../kit/el.ts";
import { groupedDigits, units } from "../kit/typed_amount.ts";
import type { Token } from "./standing.ts";

const COIN_DECIMALS = 18;
const MOST_WEI = 10n ** 27n;

/** @param props of the input; `tag` "textarea" for several lines */
export function field(
  label: string,
  { tag = "input", ...props }: Props & { tag?: string; name: string },
  hint: string = "",
) {
  const input = el(tag as "input", { id: props.name, autocomplete: "off", spellcheck: "false", ...props });
  const said = el("p", { class: "verdict bad", role: "alert" });
  const parts = [el("label", { for: props.name }, label), hint && el("p", { class: "hint" }, hint), input, said];
  return {
    node: el("div", { class: "field" }, ...parts),
    input,
    say: (it: string) => (said.textContent = it),
  };
}

export function facts(rows: [string, Child][]) {
  return el("dl", {}, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export function list(items: string[]) {
  return el("ul", {}, ...items.map((item) => el("li", {}, item)));
}

/**
 * @param text an amount of the coin as people type it
 * @returns in wei; null for other texts, for what reads in two ways, and from a billion coins on, which are rather wei
 */
export function weiOf(text: string, language: string): bigint | null {
  const wei = groupedDigits(language, text) ? null : units(text, COIN_DECIMALS);
  return wei !== null && wei < MOST_WEI ? wei : null;
}

export function tokenText({ balance, decimals, symbol, address }: Token) {
  return `${decimalOf(balance, decimals)} ${symbol || "units"} (${checksummed(address)})`;
}

export function isUrl(text: string) {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** @returns in EIP-55 form; empty for the zero address, a wrong checksum and other texts */
export function addressOf(text: string): string {
  const found = text.trim();
  if (!/^0x[0-9a-fA-F]{40}$/.test(found) || !BigInt(found)) return "";
  const made = checksummed(found);
  return [made, made.toLowerCase(), `0x${made.slice(2).toUpperCase()}`].includes(found) ? made : "";
}

export function checksummed(address: string) {
  const plain = address.slice(2).toLowerCase();
  const hash = digits(keccak256(new TextEncoder().encode(plain)));
  return `0x${[...plain].map((digit, at) => (parseInt(hash[at], 16) > 7 ? digit.toUpperCase() : digit)).join("")}`;
}
