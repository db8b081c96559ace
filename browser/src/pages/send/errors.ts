/** Chooses the sentence that says why a payment was not made. */

import {
  AccountNotFunded,
  OperationFailed,
  PaymentRefused,
  RequestRefused,
  WebAuthnError,
  isStale,
} from "../library.ts";
import { ProblemError } from "../parts/problems.ts";
import { COIN, TOKENS, shown } from "./tokens.ts";

const FAILED = "the operation was mined and failed";

/**
 * @param how `handedOver`: whether the signed operation may have reached the bundler; `sent`: whether the bundler has
 *   accepted it
 * @returns a ProblemError, or an error for which the pages already have a text
 */
export function sendError(
  error: unknown,
  { handedOver = false, sent = false }: { handedOver?: boolean; sent?: boolean } = {},
): unknown {
  if (error instanceof ProblemError || error instanceof WebAuthnError) return error;
  if (error instanceof PaymentRefused)
    return new ProblemError(error.code === "payee_unregistered" ? error.code : "payee_unverified");
  if (error instanceof AccountNotFunded) return notFunded(error);
  if (error instanceof OperationFailed && error.earlier) return new ProblemError(`send.earlier.${error.earlier}`);
  if (handedOver && isStale(error)) return new ProblemError("send.earlier.unknown"); // another window used the nonce
  if (error instanceof OperationFailed && error.message.startsWith(FAILED)) return new ProblemError("chain_failed");
  if (sent || (handedOver && !(error instanceof OperationFailed && error.message.startsWith("refused: "))))
    return new ProblemError("send.unconfirmed");
  if (error instanceof RequestRefused && error.code === "bundler_not_configured")
    return new ProblemError("send.unconfigured");
  if (error instanceof RequestRefused && error.status === 429) return new ProblemError("send.toomany");
  return error;
}

function notFunded({ balance, needed, token }: AccountNotFunded) {
  const unit = TOKENS.find((it) => it.token.toLowerCase() === token.toLowerCase()) ?? COIN;
  return new ProblemError(unit === COIN ? "insufficient_fee" : "insufficient_balance", {
    have: shown(balance, unit),
    need: shown(needed, unit),
  });
}
