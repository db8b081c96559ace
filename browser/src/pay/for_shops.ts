/** What shops are told: always in English, because shops log it, and never with the person's balance. */

import en from "../texts/en/pay.ts";

/** The messages that are not those for the person. */
const OTHERS = {
  user_cancelled: "The person cancelled.",
  bad_request: "The request's data needs to, amount, token and chainId.",
  amount_mismatch: "The request's total and its data state different amounts.",
  wrong_chain: "The person's account is on another chain.",
  no_vault: "The person has no vault in this browser.",
  vault_locked: "The person's vault stayed locked.",
  insufficient_balance: "The person's account has too little.",
  unconfirmed: "The payment was sent and is not confirmed yet. Watch the payee's account.",
  too_many: "Too many payments from the person's network.",
} as Record<string, string>;
const SAME = [
  "limit_exceeded",
  "delegation_expired",
  "delegation_refused",
  "payee_unregistered",
  "payee_unverified",
  "chain_rejected",
  "not_configured",
  "network",
];

/**
 * @param code of a refusal
 * @returns `error`: "internal" for a code that shops do not know
 */
export function forShops(code: string): { error: string; message: string } {
  const error = code in OTHERS || SAME.includes(code) ? code : "internal";
  const message = OTHERS[error] ?? en[error as "internal"];
  return { error, message: error === "unconfirmed" ? message : `${message} ${en.nothing_paid}` };
}
