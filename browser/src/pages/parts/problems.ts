/**
 * Converts errors to sentences that tell a person what happened and what to do. The sentences are in the text tables.
 */

import { meta } from "../../kit/meta.ts";
import {
  OperationFailed,
  NetworkError,
  PluginCallError,
  RequestRefused,
  StorageError,
  WasmLoadError,
  WebAuthnError,
} from "../library.ts";
import { moment, text, type TextKey } from "./language.ts";

/** The service's main address, the only one at which its passkeys work. */
export const ADDRESS = meta("address") || location.origin;

const REFUSALS: Record<string, TextKey> = {
  identifier_taken: "problem.identifier_taken",
  identifier_reserved: "problem.identifier_reserved",
  "Invalid identifier": "problem.invalid",
  "Unsupported country": "choose.country",
  registration_closed: "start.closed",
  invitation_required: "problem.invitation",
  invitation_invalid: "problem.invitation",
  ip_limit_reached: "problem.ip_limit",
  credential_limit_reached: "problem.credential_limit",
  sms_send_failed: "problem.send_failed",
  email_send_failed: "problem.send_failed",
  sms_check_failed: "problem.server",
  attestation_required: "problem.attestation",
  attestation_expired: "problem.attestation",
  attestation_invalid: "problem.attestation",
  attestation_mismatch: "problem.attestation",
  attestation_used: "problem.attestation",
  credential_already_registered: "problem.credential",
  rpc_error: "problem.server",
  bundler_error: "problem.server",
};
const CALLS: Record<string, TextKey> = {
  open_elsewhere: "problem.elsewhere",
  wrong_key: "problem.wrong_key",
  invalid_database: "problem.damaged",
  export_rejected: "import.rejected",
  conflict: "import.conflict",
};

/** An error that is shown to the person as a sentence from the text tables. */
export class ProblemError extends Error {
  declare key: TextKey;
  declare values: Record<string, string | number>;

  constructor(key: TextKey, values: Record<string, string | number> = {}) {
    super(key);
    this.key = key;
    this.values = values;
  }
}

/** Returns the sentence for an error, which is empty if the page itself cancelled its request. */
export function problem(error: unknown): string {
  if (error instanceof ProblemError) return text(error.key, error.values);
  if (error instanceof WebAuthnError)
    return error.reason === "aborted" ? "" : text(`problem.${error.reason}`, { address: ADDRESS });
  if (error instanceof RequestRefused) return refusal(error);
  if (error instanceof OperationFailed && error.reason === "AliasTaken") return text("problem.alias");
  if (error instanceof OperationFailed) return text("problem.chain", { reason: error.message });
  if (error instanceof NetworkError || isUnloaded(error)) return text("problem.offline");
  if (error instanceof StorageError) return text("problem.storage");
  if (error instanceof WasmLoadError) return text("problem.enclave");
  if (error instanceof PluginCallError && error.code && CALLS[error.code]) return text(CALLS[error.code]);
  return text("problem.unknown", { reason: error instanceof Error ? error.message : String(error) });
}

/** Whether a part of the pages could not be loaded; each browser says it in other words. */
function isUnloaded(error: unknown) {
  return error instanceof TypeError && /dynamically imported module|importing a module/i.test(error.message);
}

function refusal(error: RequestRefused) {
  if (error.code === "rate_limited") {
    if (!error.retryAfter) return text("problem.rate_limited.later");
    return text("problem.rate_limited", { time: moment(Date.now() + error.retryAfter * 1000) });
  }
  const key = REFUSALS[error.code];
  if (key) return text(key);
  return error.status >= 500 || error.status === 429
    ? text("problem.server")
    : text("problem.refused", { reason: error.code });
}

/**
 * Returns the vault's response, or throws if it is a refusal.
 *
 * @param wrongKey the key of the text for "wrong_key"
 */
export function succeeded<T extends { success?: boolean; error?: string }>(
  answer: T,
  wrongKey: TextKey = "problem.wrong_key",
): T {
  if (answer.success !== false) return answer;
  const code = answer.error ?? "failed";
  if (code === "wrong_key") throw new ProblemError(wrongKey);
  throw CALLS[code] ? new ProblemError(CALLS[code]) : new ProblemError("problem.unknown", { reason: code });
}
