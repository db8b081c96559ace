/** When a failed request is sent again: the same rule as in the Python client. */

const ATTEMPTS = 3;
const FIRST_MS = 200;
const LONGEST_MS = 5000;
/** The HTTP statuses of a service that is busy or limits requests. */
const PASSING = new Set([429, 502, 503, 504]);
const IN_USE = "idempotency_key_in_use";

/**
 * Returns how long to wait before a request is sent again. A Retry-After is obeyed up to five seconds; if the service
 * demands more, the request is not repeated.
 *
 * @param {{safe: boolean, keyed: boolean}} request safe: it changes nothing; keyed: it is sent with an `Idempotency-Key`
 * @param {any} error a NetworkError or a RequestRefused
 * @param {number} attempt how often the request was sent
 * @returns {number | null} milliseconds; null if the error is final
 */
export function retryAfterMs({ safe, keyed }, error, attempt) {
  const refused = typeof error.status === "number";
  const inUse = refused && error.code === IN_USE;
  const repeatable = safe || (keyed && (refused ? inUse : attempt === 1));
  const lasting = refused && !inUse && (!PASSING.has(error.status) || error.code.endsWith("_not_configured"));
  if (attempt >= ATTEMPTS || !repeatable || lasting) return null;
  const wait = Math.max(FIRST_MS * 2 ** (attempt - 1), (error.retryAfter ?? 0) * 1000);
  return wait <= LONGEST_MS ? wait : null;
}

/**
 * Returns the seconds that a Retry-After header demands. A date is not understood.
 *
 * @param {string | null} header
 * @returns {number | null}
 */
export function secondsIn(header) {
  return header !== null && /^[0-9]+$/.test(header) ? Number(header) : null;
}
