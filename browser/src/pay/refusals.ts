/** Converts errors to refusals, which decide what the person reads and which code the shop gets. */

import { decimalOf } from "../chain/amounts.ts";
import { isStale } from "../chain/errors.ts";
import {
  AccountNotFunded,
  NetworkError,
  OperationFailed,
  PaymentRefused,
  RequestRefused,
  SecondKeyMissing,
  WebAuthnError,
} from "../holdfast.ts";
import { meta } from "../kit/meta.ts";
import { type Facts, keysText } from "../kit/stored.ts";
import { COIN, Refusal, tokenOf } from "./request.ts";
import { amountText } from "./text.ts";

/** The refusal codes for invalid delegations, by the enclave's code. All others become "delegation_refused". */
const OF_DELEGATIONS = {
  policy_denied: "limit_exceeded",
  token_expired: "delegation_expired",
  payee_unregistered: "payee_unregistered",
  payee_unverified: "payee_unverified",
} as Record<string, string>;
/** After these, as after each "passkey_…", the person may try again, because nothing was signed. */
const PASSING = ["no_prf", "unsupported", "wrong_key", "wrong_password", "network"];

/** whether the bundler has the operation; "surely": it has accepted it */
export type HandedOver = false | "perhaps" | "surely";

/**
 * Returns the refusal that an error means for the payment.
 *
 * @param facts about the vault
 */
export function refusalOf(error: unknown, handedOver: HandedOver = false, facts: Facts = {}): Refusal {
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

/** Whether the person may try again in the same window. */
export function isPassing({ code }: Refusal) {
  return code.startsWith("passkey_") || PASSING.includes(code);
}

/** @param reason why a passkey ceremony failed */
function ofPasskey(reason: string) {
  if (["no_prf", "unsupported"].includes(reason)) return reason;
  if (["timed_out", "no_focus", "wrong_origin"].includes(reason)) return `passkey_${reason}`;
  return ["cancelled", "aborted", "excluded"].includes(reason) ? "passkey_cancelled" : "passkey_failed";
}

function notFunded({ address, balance, needed, token }: AccountNotFunded) {
  const unit = tokenOf(token, { usdc: meta("usdc") });
  const shown = (value: bigint) => (unit ? amountText(decimalOf(value, unit.decimals), unit) : `${value}`);
  return new Refusal(unit === COIN ? "insufficient_fee" : "insufficient_balance", {
    have: shown(balance),
    need: shown(needed),
    account: address,
  });
}

function ofOperation(error: OperationFailed, handedOver: HandedOver) {
  const { message } = error;
  // An earlier payment may have been mined, perhaps the same one.
  if (error.earlier || (handedOver && isStale(error))) return new Refusal("unconfirmed");
  if (message.startsWith("the operation was mined and failed")) return new Refusal("chain_failed");
  // If the bundler has accepted the operation, the refusal concerns only the request for its receipt.
  const rejected = message.startsWith("refused: ") && handedOver !== "surely";
  return new Refusal(handedOver && !rejected ? "unconfirmed" : "chain_rejected");
}

function ofService({ code, status }: RequestRefused) {
  if (code === "bundler_not_configured") return new Refusal("not_configured");
  return new Refusal(status === 429 ? "too_many" : "network");
}
