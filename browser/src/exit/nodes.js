/** The parts of the page: fields, facts, amounts, and what is said of a mistake. */

import { keccak256 } from "../did/keccak.js";
import { digits } from "./abi.js";
import { el } from "../kit/el.js";

const COIN_DECIMALS = 18;

/**
 * @param {string} label
 * @param {Record<string, any>} props of the input; `tag` "textarea" for several lines
 * @param {string} [hint]
 */
export function field(label, { tag = "input", ...props }, hint = "") {
  const input = /** @type {HTMLInputElement} */ (
    el(/** @type {"input"} */ (tag), { id: props.name, autocomplete: "off", spellcheck: "false", ...props })
  );
  const said = el("p", { class: "verdict bad", role: "alert" });
  const parts = [el("label", { for: props.name }, label), hint && el("p", { class: "hint" }, hint), input, said];
  return {
    node: el("div", { class: "field" }, ...parts),
    input,
    say: (/** @type {string} */ it) => (said.textContent = it),
  };
}

/** @param {[string, import("../kit/el.js").Child][]} rows */
export function facts(rows) {
  return el("dl", {}, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** @param {string[]} items */
export function list(items) {
  return el("ul", {}, ...items.map((item) => el("li", {}, item)));
}

/** @param {bigint} amount in the smallest unit @param {number} decimals @returns {string} exactly */
export function amountText(amount, decimals) {
  const text = amount.toString().padStart(decimals + 1, "0");
  const [whole, part] = [text.slice(0, text.length - decimals), text.slice(text.length - decimals).replace(/0+$/, "")];
  return part ? `${whole}.${part}` : whole;
}

/** @param {bigint} wei */
export function coinText(wei) {
  return `${amountText(wei, COIN_DECIMALS)} ETH`;
}

/** @param {string} text an amount of the coin as people type it, also with a comma @returns {bigint | null} in wei; null for other texts */
export function weiOf(text) {
  const [, whole, part = ""] = /^(\d{1,9})(?:[.,](\d{1,18}))?$/.exec(text.trim()) ?? [];
  return whole ? BigInt(whole + part.padEnd(COIN_DECIMALS, "0")) : null;
}

/** @param {import("./standing.js").Token} token */
export function tokenText({ balance, decimals, symbol, address }) {
  return `${amountText(balance, decimals)} ${symbol || "units"} (${checksummed(address)})`;
}

/** @param {string} text */
export function isUrl(text) {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** @param {string} text @returns {string} in EIP-55 form; empty for the zero address, a wrong checksum and other texts */
export function addressOf(text) {
  const found = text.trim();
  if (!/^0x[0-9a-fA-F]{40}$/.test(found) || !BigInt(found)) return "";
  const made = checksummed(found);
  return [made, made.toLowerCase(), `0x${made.slice(2).toUpperCase()}`].includes(found) ? made : "";
}

/** @param {string} address */
export function checksummed(address) {
  const plain = address.slice(2).toLowerCase();
  const hash = digits(keccak256(new TextEncoder().encode(plain)));
  return `0x${[...plain].map((digit, at) => (parseInt(hash[at], 16) > 7 ? digit.toUpperCase() : digit)).join("")}`;
}
