/** Converts errors to refusals, which decide what the person reads and which code the shop gets. */

import { decimalOf } from "../kit/money.js";
import {
  AccountNotFunded,
  NetworkError,
  OperationFailed,
  PaymentRefused,
  RequestRefused,
  SecondKeyMissing,
  WebAuthnError,
} from "../holdfast.js";
import { meta } from "../kit/meta.js";
import { keysText } from "../kit/stored.js";
import { COIN, Refusal, tokenOf } from "./request.js";
import { amountText } from "./text.js";

/** The refusal codes for invalid delegations, by the enclave's code. All others become "delegation_refused". */
const OF_DELEGATIONS = /** @type {Record<string, string>} */ ({
  policy_denied: "limit_exceeded",
  token_expired: "delegation_expired",
  payee_unregistered: "payee_unregistered",
  payee_unverified: "payee_unverified",
});
/** After these, as after each "passkey_…", the person may try again, because nothing was signed. */
const PASSING = ["no_prf", "unsupported", "wrong_key", "wrong_password", "network"];

/** @typedef {false | "perhaps" | "surely"} HandedOver whether the bundler has the operation; "surely": it has accepted it */

/**
 * Returns the refusal that an error means for the payment.
 *
 * @param {unknown} error
 * @param {HandedOver} [handedOver]
 * @param {import("../kit/stored.js").Facts} [facts] about the vault
 * @returns {Refusal}
 */
export function refusalOf(error, handedOver = false, facts = {}) {
  if (error instanceof Refusal) return error;
  if (error instanceof WebAuthnError) return new Refusal(ofPasskey(error.reason));
  if (error instanceof PaymentRefused) return new Refusal(OF_DELEGATIONS[error.code] ?? "delegation_refused");
  if (error instanceof AccountNotFunded) return notFunded(error);
  if (error instanceof SecondKeyMissing) return new Refusal("second_missing", { keys: keysText(error.keys, facts) });
  if (error instanceof OperationFailed) return ofOperation(error, handedOver);
  if (handedOver) return new Refusal("unconfirmed");
  if (error instanceof RequestRefused) return ofService(error);
  return new Refusal(error instanceof NetworkError ? "network" : "internal");
}

/**
 * Whether the person may try again in the same window.
 *
 * @param {Refusal} refusal
 */
export function isPassing({ code }) {
  return code.startsWith("passkey_") || PASSING.includes(code);
}

/** @param {string} reason why a passkey ceremony failed */
function ofPasskey(reason) {
  if (["no_prf", "unsupported"].includes(reason)) return reason;
  if (["timed_out", "no_focus", "wrong_origin"].includes(reason)) return `passkey_${reason}`;
  return ["cancelled", "aborted", "excluded"].includes(reason) ? "passkey_cancelled" : "passkey_failed";
}

/** @param {AccountNotFunded} error */
function notFunded({ address, balance, needed, token }) {
  const unit = tokenOf(token, { usdc: meta("usdc") });
  const shown = (/** @type {bigint} */ value) =>
    unit ? amountText(decimalOf(value, unit.decimals), unit) : `${value}`;
  return new Refusal(unit === COIN ? "insufficient_fee" : "insufficient_balance", {
    have: shown(balance),
    need: shown(needed),
    account: address,
  });
}

/**
 * @param {OperationFailed} error
 * @param {HandedOver} handedOver
 */
function ofOperation({ message }, handedOver) {
  if (message.startsWith("the operation was mined and failed")) return new Refusal("chain_failed");
  // If the bundler has accepted the operation, the refusal concerns only the request for its receipt.
  const rejected = message.startsWith("refused: ") && handedOver !== "surely";
  return new Refusal(handedOver && !rejected ? "unconfirmed" : "chain_rejected");
}

/** @param {RequestRefused} error */
function ofService({ code, status }) {
  if (code === "bundler_not_configured") return new Refusal("not_configured");
  return new Refusal(status === 429 ? "too_many" : "network");
}
