/** Reads a shop's request strictly, because all of it is untrusted. Pure; tested without a browser. */

import { isAddress } from "../chain/calls.ts";
import { NATIVE } from "../chain/native.ts";
import type { PaymentParams } from "../generated/types.ts";
import { plainLine } from "../kit/hidden.ts";
import { decimalOf } from "../chain/amounts.ts";

const WHOLE = /^[0-9]{1,78}$/;
const MOST = 2n ** 256n - 1n;
const DECIMAL = /^-?[0-9]+(\.[0-9]+)?$/;
/** The part of a label that is shown: whole characters, so that no emoji is cut in half. */
const LABEL = /^.{0,120}/su;
/** The maximum length of a DID that the interface accepts. */
const DID_LENGTH = 512;

/** `unit`: the currency in which the total must state the same amount; `least`: decimal places that are always shown */
type Token = { symbol: string; decimals: number; unit: string; least: number };

/** of the service */
export type Facts = { chainId: number; chainName: string; usdc: string };

/** the request as passed on by the worker; `inside`: the page's origin if a frame of another origin asks */
export type PaymentMessage = {
  site: string;
  inside?: string;
  total: { currency: string; value: string };
  data: unknown;
};

/** `token`: null if the service does not know it */
export type Request = {
  site: URL;
  inside: URL | null;
  total: { currency: string; value: string };
  label: string;
  params: PaymentParams;
  amount: bigint;
  token: Token | null;
};

export const COIN: Token = { symbol: "ETH", decimals: 18, unit: "ETH", least: 0 };
/** One US dollar and one USDC count as the same (docs/decisions/0960). */
const USDC: Token = { symbol: "USDC", decimals: 6, unit: "USD", least: 2 };

/** The payment is refused, with a code for programs and the values that its text needs. */
export class Refusal extends Error {
  declare code: string;
  declare values: Record<string, string>;

  constructor(code: string, values: Record<string, string> = {}) {
    super(code);
    this.code = code;
    this.values = values;
  }
}

/**
 * Reads the request, and refuses it unless it can be paid on the service's chain.
 *
 * @throws {Refusal}
 */
export function readRequest({ site, inside, total, data }: PaymentMessage, facts: Facts): Request {
  if (![site, inside ?? site].every((origin) => URL.canParse(origin))) throw bad("what_site");
  const { to, amount, token, chainId, ucan, label } =
    typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  if (typeof amount !== "string" || !WHOLE.test(amount) || BigInt(amount) === 0n || BigInt(amount) > MOST)
    throw bad("what_amount");
  if (token !== NATIVE && !isAddress(token)) throw bad("what_token");
  if (!isAddress(to) && !isDid(to)) throw bad("what_payee");
  if (!Number.isSafeInteger(chainId)) throw bad("what_chain");
  if (chainId !== facts.chainId)
    throw new Refusal("wrong_chain", { wanted: String(chainId), own: `${facts.chainName} (${facts.chainId})` });
  const known = tokenOf(token, facts);
  checkTotal(total, BigInt(amount), known);
  const params = { to, amount, token, chainId, ...(typeof ucan === "string" && ucan && { ucan }) };
  return {
    site: new URL(site),
    inside: inside ? new URL(inside) : null,
    total,
    label: labelOf(label),
    params,
    amount: BigInt(amount),
    token: known,
  };
}

/**
 * Returns what the payment moves, as it is noted for the vault's list: not the total, which may be in the shop's
 * currency.
 *
 * @returns for a token that the service does not know in its smallest unit, with its address
 */
export function movedBy({ amount, token, params }: Request): { amount: string; symbol: string } {
  return token
    ? { amount: decimalOf(amount, token.decimals), symbol: token.symbol }
    : { amount: amount.toString(), symbol: params.token };
}

/** Checks that the request's total and its data state the same amount, if both use the same unit. */
function checkTotal({ currency, value }: { currency: string; value: string }, amount: bigint, token: Token | null) {
  if (!token || currency.toUpperCase() !== token.unit) return;
  const requested = decimalOf(amount, token.decimals);
  if (DECIMAL.test(value) && normal(value) === requested) return;
  throw new Refusal("amount_mismatch", { shown: `${value} ${currency}`, asked: `${requested} ${token.symbol}` });
}

function normal(decimal: string) {
  const plain = decimal.replace(/^0+(?=\d)/, "");
  return plain.includes(".") ? plain.replace(/\.?0+$/, "") : plain;
}

/** @returns null for a token that the service does not know */
export function tokenOf(token: string, { usdc }: { usdc: string }): Token | null {
  if (token === NATIVE) return COIN;
  return token.toLowerCase() === usdc.toLowerCase() ? USDC : null;
}

function isDid(to: unknown): to is `did:${string}` {
  return typeof to === "string" && to.length <= DID_LENGTH && /^did:[a-z0-9]+:[\w.:%-]+$/.test(to);
}

/** @param label a shop's own words: one line, without characters that reverse or hide text */
function labelOf(label: unknown) {
  if (typeof label !== "string") return "";
  const plain = plainLine(label);
  const start = String(LABEL.exec(plain));
  return start === plain ? plain : `${start}…`;
}

function bad(what: string) {
  return new Refusal("bad_request", { what });
}
