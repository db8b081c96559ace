/** When a failed request is sent again. */

import type { RequestRefused } from "../errors.ts";
import type { Foreign } from "./http.ts";
import { ATTEMPTS, FIRST_MS, LONGEST_MS, RULES } from "../generated/retries.ts";

/**
 * Returns how long to wait before a request is sent again. A Retry-After is obeyed up to five seconds; if the service
 * demands more, the request is not repeated.
 *
 * @param request safe: it changes nothing; keyed: it is sent with an `Idempotency-Key`
 * @param error a NetworkError or a RequestRefused
 * @param attempt how often the request was sent
 * @returns milliseconds; null if the error is final
 */
export function retryAfterMs(
  { safe, keyed }: { safe: boolean; keyed: boolean },
  error: Partial<RequestRefused>,
  attempt: number,
): number | null {
  const kind = safe ? "reads" : keyed && "keyed";
  const late = (error.cause as Foreign)?.name === "TimeoutError";
  const unanswered = [late ? "no answer in time" : "no answer"];
  const names = typeof error.status === "number" ? [error.code, String(error.status)] : unanswered;
  const rule = RULES.find(({ request, errors }) => request === kind && errors.some((it) => names.includes(it)));
  if (!rule || attempt >= ATTEMPTS || attempt > (rule.most ?? ATTEMPTS)) return null;
  const wait = Math.max(FIRST_MS * 2 ** (attempt - 1), (error.retryAfter ?? 0) * 1000);
  return wait <= LONGEST_MS ? wait : null;
}

/** Returns the seconds that a Retry-After header demands. A date is not understood. */
export function secondsIn(header: string | null): number | null {
  return header !== null && /^[0-9]+$/.test(header) ? Number(header) : null;
}
