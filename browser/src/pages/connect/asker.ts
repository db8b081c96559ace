/** Finds the application that sent the request: the window that opened this one, or the page that redirected here. */

import {
  PONG_MS,
  PROTOCOL,
  READY_EVERY_MS,
  READY_FOR_MS,
  fieldsOf,
  fromFragment,
  inFragment,
  type Message,
  token,
} from "../../connect/protocol.ts";
import { isDeclared } from "../../connect/declared.ts";
import { askingOrigin, type ConnectRequest, readRequest, Refusal, returnAddress } from "../../connect/request.ts";

export interface Asker {
  /** as stated by the browser, not by the application */ origin: URL;
  /** repeated in every response; a text if the request was not refused */ state: unknown;
  /** null if the request was refused */ requested: ConnectRequest | null;
  refusal: Refusal | null;
  /** whether the response takes this window back to the application */ redirect: boolean;
  /** where the response goes: "window", or the address in the application */ returnTo: string;
  isPresent: () => Promise<boolean>;
  answer: (message: Message) => void;
}

/**
 * Waits for the request.
 *
 * @throws {Refusal} no application asks, or one that may not; no response can be sent
 */
export async function asker(): Promise<Asker> {
  if (window.top !== window) throw new Refusal("framed");
  const message = fromFragment(location.hash);
  return message.type === "request" ? byRedirect(message) : byOpener();
}

async function byRedirect(message: Message): Promise<Asker> {
  const back = returnAddress(message.returnTo, document.referrer);
  if (!(await isDeclared(back))) throw new Refusal("return_undeclared");
  const { state } = message;
  return {
    origin: new URL(back.origin),
    state,
    ...read(message),
    redirect: true,
    returnTo: back.href,
    isPresent: async () => true,
    answer: (fields) => location.replace(back.href + inFragment({ holdfast: PROTOCOL, state, ...fields })),
  };
}

async function byOpener(): Promise<Asker> {
  const opener = window.opener;
  if (!opener) throw new Refusal("no_asker");
  const { origin, ...message } = await requestOf(opener);
  const url = askingOrigin(origin);
  const { state } = message;
  const send = (fields: Message) => opener.postMessage({ holdfast: PROTOCOL, state, ...fields }, origin);
  return {
    origin: url,
    state,
    ...read(message),
    redirect: false,
    returnTo: "window",
    isPresent: () => pong(opener, origin, state, send),
    answer: send,
  };
}

/**
 * Waits for the first request that contains this window's nonce. Only the opener receives the nonce, and only requests
 * from the opener are accepted.
 */
function requestOf(opener: Window): Promise<Message & { origin: string }> {
  const nonce = token();
  return new Promise((resolve, reject) => {
    // The opener's origin is not known yet, so it gets only a nonce.
    const ready = () => opener.postMessage({ holdfast: PROTOCOL, type: "ready", nonce }, "*");
    const timer = setInterval(ready, READY_EVERY_MS);
    const end = setTimeout(() => over(() => reject(new Refusal("no_asker"))), READY_FOR_MS);
    const over = (settle: () => void) => {
      clearInterval(timer);
      clearTimeout(end);
      removeEventListener("message", hear);
      settle();
    };
    const hear = (event: MessageEvent) => {
      const message = fieldsOf(event.data);
      if (event.source !== opener || message.type !== "request" || message.nonce !== nonce) return;
      over(() => resolve({ ...message, origin: event.origin }));
    };
    addEventListener("message", hear);
    ready();
  });
}

/** Whether the opener's window still shows the page that sent the request. */
function pong(opener: Window, origin: string, state: unknown, send: (fields: Message) => void): Promise<boolean> {
  if (opener.closed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const over = (there: boolean) => {
      clearTimeout(timer);
      removeEventListener("message", hear);
      resolve(there);
    };
    const timer = setTimeout(() => over(false), PONG_MS);
    const hear = (event: MessageEvent) => {
      const message = fieldsOf(event.data);
      if (event.source === opener && event.origin === origin && message.type === "pong" && message.state === state)
        over(true);
    };
    addEventListener("message", hear);
    send({ type: "ping" });
  });
}

function read(message: Message): { requested: ConnectRequest | null; refusal: Refusal | null } {
  try {
    return { requested: readRequest(message, Date.now() / 1000), refusal: null };
  } catch (error) {
    if (error instanceof Refusal) return { requested: null, refusal: error };
    throw error;
  }
}
