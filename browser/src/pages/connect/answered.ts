/**
 * Records which requests this browser has answered, so that a request reopened from the history is not answered again.
 */

import { withStore } from "../library.ts";

const NOTE = "connect:answered";
const TRIES = 5;

/**
 * Marks a request as answered.
 *
 * @param request `expires`: seconds since 1970
 * @returns false if it was answered before
 */
export function firstAnswer({
  origin,
  state,
  expires,
}: {
  origin: string;
  state: string;
  expires: number;
}): Promise<boolean> {
  return withStore(async (store) => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = await store.note<string>(NOTE);
      const stored = (JSON.parse(before ?? "[]") as [string, number][]).filter(
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
