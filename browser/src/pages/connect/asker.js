/** Finds the application that sent the request: the window that opened this one, or the page that redirected here. */

import {
  PONG_MS,
  PROTOCOL,
  READY_EVERY_MS,
  READY_FOR_MS,
  fieldsOf,
  fromFragment,
  inFragment,
  token,
} from "../../connect/protocol.js";
import { isDeclared } from "../../connect/declared.js";
import { Refusal, askingOrigin, readRequest, returnAddress } from "../../connect/request.js";

/**
 * @typedef {import("../../connect/request.js").ConnectRequest} ConnectRequest
 * @typedef {Record<string, any>} Message
 *
 * @typedef {object} Asker
 * @property {URL} origin as stated by the browser, not by the application
 * @property {string} state repeated in every response
 * @property {ConnectRequest | null} requested null if the request was refused
 * @property {Refusal | null} refusal
 * @property {boolean} redirect whether the response takes this window back to the application
 * @property {string} returnTo where the response goes: "window", or the address in the application
 * @property {() => Promise<boolean>} isPresent
 * @property {(message: Message) => void} answer
 */

/**
 * Waits for the request.
 *
 * @returns {Promise<Asker>}
 * @throws {Refusal} no application asks, or one that may not; no response can be sent
 */
export async function asker() {
  if (window.top !== window) throw new Refusal("framed");
  const message = fromFragment(location.hash);
  return message.type === "request" ? byRedirect(message) : byOpener();
}

/** @param {Message} message @returns {Promise<Asker>} */
async function byRedirect(message) {
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

/** @returns {Promise<Asker>} */
async function byOpener() {
  const opener = window.opener;
  if (!opener) throw new Refusal("no_asker");
  const { origin, ...message } = await requestOf(opener);
  const url = askingOrigin(origin);
  const { state } = /** @type {Message} */ (message);
  const send = (/** @type {Message} */ fields) => opener.postMessage({ holdfast: PROTOCOL, state, ...fields }, origin);
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
 *
 * @param {Window} opener
 * @returns {Promise<Message & {origin: string}>}
 */
function requestOf(opener) {
  const nonce = token();
  return new Promise((resolve, reject) => {
    // The opener's origin is not known yet, so it gets only a nonce.
    const ready = () => opener.postMessage({ holdfast: PROTOCOL, type: "ready", nonce }, "*");
    const timer = setInterval(ready, READY_EVERY_MS);
    const end = setTimeout(() => over(() => reject(new Refusal("no_asker"))), READY_FOR_MS);
    const over = (/** @type {() => void} */ settle) => {
      clearInterval(timer);
      clearTimeout(end);
      removeEventListener("message", hear);
      settle();
    };
    const hear = (/** @type {MessageEvent} */ event) => {
      const message = fieldsOf(event.data);
      if (event.source !== opener || message.type !== "request" || message.nonce !== nonce) return;
      over(() => resolve({ ...message, origin: event.origin }));
    };
    addEventListener("message", hear);
    ready();
  });
}

/**
 * Whether the opener's window still shows the page that sent the request.
 *
 * @param {Window} opener
 * @param {string} origin
 * @param {string} state
 * @param {(fields: Message) => void} send
 * @returns {Promise<boolean>}
 */
function pong(opener, origin, state, send) {
  if (opener.closed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const over = (/** @type {boolean} */ there) => {
      clearTimeout(timer);
      removeEventListener("message", hear);
      resolve(there);
    };
    const timer = setTimeout(() => over(false), PONG_MS);
    const hear = (/** @type {MessageEvent} */ event) => {
      const message = fieldsOf(event.data);
      if (event.source === opener && event.origin === origin && message.type === "pong" && message.state === state)
        over(true);
    };
    addEventListener("message", hear);
    send({ type: "ping" });
  });
}

/** @param {Message} message @returns {{requested: ConnectRequest | null, refusal: Refusal | null}} */
function read(message) {
  try {
    return { requested: readRequest(/** @type {any} */ (message), Date.now() / 1000), refusal: null };
  } catch (error) {
    if (error instanceof Refusal) return { requested: null, refusal: error };
    throw error;
  }
}
