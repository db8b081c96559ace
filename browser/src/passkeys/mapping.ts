/** Converts the browser's DOMExceptions to WebAuthnError. */

import { WebAuthnError, type WebAuthnReason } from "../errors.ts";

/** Only the elapsed time distinguishes a timeout from a refusal: browsers report both as NotAllowedError. */
const ALMOST = 0.95;

const BY_NAME: Record<string, [WebAuthnReason, string]> = {
  InvalidStateError: [
    "excluded",
    "this authenticator has a passkey for you already: use that one, or another authenticator",
  ],
  NotSupportedError: [
    "no_algorithm",
    "the authenticator supports none of the signature algorithms that are needed: use another one",
  ],
  ConstraintError: ["no_algorithm", "the authenticator cannot store a passkey or verify you: use another one"],
  SecurityError: ["wrong_origin", "passkeys do not work at this address: open the service's main address"],
  OperationError: ["busy", "the browser is asking for a passkey already: answer that prompt first"],
};

/**
 * Converts the error of a failed ceremony to a WebAuthnError.
 *
 * @param cause what the browser threw
 * @param ceremony the circumstances; times in ms
 */
export function webAuthnError(
  cause: unknown,
  {
    elapsed,
    timeout,
    aborted = false,
    focused = true,
  }: { elapsed: number; timeout: number; aborted?: boolean; focused?: boolean },
): WebAuthnError {
  if (cause instanceof WebAuthnError) return cause;
  const name = cause instanceof Error ? cause.name : "";
  if (aborted) return new WebAuthnError("the request for a passkey was cancelled", "aborted", { cause });
  const known = BY_NAME[name];
  if (known) return new WebAuthnError(known[1], known[0], { cause });
  if (name !== "NotAllowedError" && name !== "AbortError") {
    return new WebAuthnError("the authenticator failed: try again, or use another one", "failed", { cause });
  }
  if (elapsed >= timeout * ALMOST)
    return new WebAuthnError("no passkey was used in time: try again", "timed_out", { cause });
  if (!focused) return new WebAuthnError("the page is not in front: click it, then try again", "no_focus", { cause });
  return new WebAuthnError(
    "no passkey was used: the prompt was cancelled, or this device has none that fits",
    "cancelled",
    { cause },
  );
}
