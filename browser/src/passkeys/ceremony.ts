/**
 * Runs one WebAuthn ceremony at a time. A prompt first cancels a waiting autofill request, and begins once that has
 * ended.
 */

import { WebAuthnError } from "../errors.ts";
import { webAuthnError } from "./mapping.ts";

let waiting: { controller: AbortController; over: Promise<unknown> } | null = null;

interface Ceremony<T> {
  /** milliseconds */ timeout: number;
  /** the application's signal, which cancels the request */ signal?: AbortSignal;
  /** waits for autofill; the next ceremony cancels it */ conditional?: boolean;
  run: (signal: AbortSignal) => Promise<T>;
}

/**
 * Runs a ceremony.
 *
 * @throws {WebAuthnError}
 */
export async function ceremony<T>({ timeout, signal, conditional = false, run }: Ceremony<T>): Promise<T> {
  if (typeof PublicKeyCredential === "undefined" || !navigator.credentials) {
    throw new WebAuthnError(
      "this browser has no passkeys: use a current Chrome, Edge, Firefox or Safari",
      "unsupported",
    );
  }
  await endWaiting();
  const controller = new AbortController();
  const ending = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
  const started = performance.now();
  const going = run(ending).catch((cause) => {
    const elapsed = performance.now() - started;
    throw webAuthnError(cause, { elapsed, timeout, aborted: ending.aborted, focused: document.hasFocus() });
  });
  if (conditional) waiting = { controller, over: going };
  return going;
}

/** Cancels a pending autofill request, if there is one, and waits until it has ended. */
export async function endWaiting() {
  const { controller, over } = waiting ?? {};
  waiting = null;
  controller?.abort();
  await over?.catch(() => {});
}
