/**
 * The messages between the page of the service that a person leaves and a window of the service to which the person moves.
 * Nothing is in an address. Each message goes to one origin only, except the first, which contains just a random word.
 */

import type { MadePasskey } from "../../flows/move.ts";

export type Wanted = { name: string; userHandle: string; challenge: Uint8Array<ArrayBuffer> };

const PROTOCOL = "move/1";
const EVERY_MS = 250;

/** The part of the address with which the new service's page is asked for a passkey. */
export const FOR_PASSKEY = "#passkey";

/**
 * In the window of the new service: waits for the page that opened it.
 *
 * @returns `origin`: as the browser states it
 */
export function requestOf(
  opener: Window,
): Promise<{ origin: string; wanted: Wanted; answer: (made: MadePasskey) => void }> {
  const word = crypto.randomUUID();
  return new Promise((resolve) => {
    const ready = () => opener.postMessage({ holdfast: PROTOCOL, type: "ready", word }, "*");
    const timer = setInterval(ready, EVERY_MS);
    const hear = ({ source, origin, data }: MessageEvent) => {
      if (source !== opener || data?.holdfast !== PROTOCOL || data.type !== "make" || data.word !== word) return;
      clearInterval(timer);
      removeEventListener("message", hear);
      const { name, userHandle, challenge } = data;
      const answer = (made: MadePasskey) =>
        opener.postMessage({ holdfast: PROTOCOL, type: "made", word, ...made }, origin);
      resolve({ origin, wanted: { name: String(name), userHandle: String(userHandle), challenge }, answer });
    };
    addEventListener("message", hear);
    ready();
  });
}

/**
 * In the page of the service that the person leaves: asks the window for a passkey.
 *
 * @param origin of the new service, to which alone the answer counts
 * @returns null: the person closed the window
 */
export function made(opened: Window, origin: string, wanted: Wanted): Promise<MadePasskey | null> {
  return new Promise((resolve) => {
    const over = (passkey: MadePasskey | null) => {
      clearInterval(timer);
      removeEventListener("message", hear);
      resolve(passkey);
    };
    let closed = 0;
    // A message may still arrive just after the window was closed, so two looks in a row must find it closed.
    const look = () => {
      closed = opened.closed ? closed + 1 : 0;
      if (closed > 1) over(null);
    };
    const timer = setInterval(look, EVERY_MS);
    const hear = ({ source, origin: from, data }: MessageEvent) => {
      if (source !== opened || from !== origin || data?.holdfast !== PROTOCOL) return;
      if (data.type === "ready")
        return opened.postMessage({ holdfast: PROTOCOL, type: "make", word: data.word, ...wanted }, origin);
      const { credential, credentialId, assertion, secret } = data;
      if (data.type === "made") over({ credential, credentialId, assertion, secret });
    };
    addEventListener("message", hear);
  });
}
