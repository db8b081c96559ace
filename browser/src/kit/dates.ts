/** Times that a chain or a service states. */

/** The last moment that dates express (ECMAScript), in milliseconds. */
const LAST_MS = 8.64e15;

/** Returns a time as a date. One that is later than dates express, which contracts accept, is the last date. */
export function dateOf(time: string | number | Date): Date {
  return new Date(typeof time === "number" ? Math.min(time, LAST_MS) : time);
}
