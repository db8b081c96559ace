/**
 * Records which requests this browser has answered, so that a request reopened from the history is not answered again.
 */

import { withStore } from "../library.js";

const NOTE = "connect:answered";
const TRIES = 5;

/**
 * Marks a request as answered.
 *
 * @param {{origin: string, state: string, expires: number}} request `expires`: seconds since 1970
 * @returns {Promise<boolean>} false if it was answered before
 */
export function firstAnswer({ origin, state, expires }) {
  return withStore(async (store) => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = await store.note(NOTE);
      const stored = /** @type {[string, number][]} */ (JSON.parse(before ?? "[]")).filter(
        ([, until]) => until > Date.now() / 1000,
      );
      const key = `${origin} ${state}`;
      if (stored.some(([known]) => known === key)) return false;
      if (await store.replaceNotes({ [NOTE]: [before ?? null, JSON.stringify([...stored, [key, expires]])] }))
        return true;
    }
    return false;
  });
}
