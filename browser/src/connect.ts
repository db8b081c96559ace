/**
 * "Register and sign with Holdfast" for pages on other origins. Keys, passkeys and consent stay on the service's page.
 *
 *     import { connect, connected } from "https://vault.example/client/connect.js";
 *     button.onclick = () => connect({ sign: { text: "I log in.", challenge } }).then(use);
 *     const back = await connected(); // after a redirect; else null
 */

import {
  type Message,
  LASTS_S,
  PROTOCOL,
  READY_FOR_MS,
  fieldsOf,
  fromFragment,
  inFragment,
  token,
} from "./connect/protocol.ts";

const WATCH_MS = 300;
const LOADS_WITHIN_MS = 20_000;
const WINDOW = "popup,width=460,height=760";
const PENDING = "holdfast-connect:";
/** Ends the call before, whose window the next one takes. */
let endFormer = () => {};

export interface ConnectRequest {
  /** the application's name for itself; shown as its own claim */ name?: string;
  /** whether to request the account's address too */ account?: boolean;
  /** a text to be signed, and the server's challenge (16 to 128 characters of base64url) */
  sign?: { text: string; challenge: string };
  /** payments up to `limit` (millionths of USDC, in total) for the DID `to`, until `expires` (seconds since 1970) */
  delegate?: { to: string; limit: string; expires: number };
}

export interface Connected {
  did: string;
  account?: { address: string; chainId: number };
  /** `message`: the signed text with its header; `signature`: r and s, 0x-hex; `publicKey`: uncompressed, hex */
  signature?: { message: string; signature: string; publicKey: string };
  /** a UCAN */ delegation?: { container: string; cid: string };
}

/** There is no result. `code` says why; docs/connect.md has the table. */
export class ConnectError extends Error {
  declare code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "ConnectError";
    this.code = code;
  }
}

/**
 * Asks the person. Call `connect` first in a click handler, because browsers block windows that open later.
 *
 * @param options `service`: its origin, by default the one that served this module; `redirect`: whether this page
 *   goes to the service and comes back, by default only if popups are blocked; `returnTo`: an address of this origin,
 *   by default this page's
 * @returns never settles if the page goes to the service: call `connected` when it is back
 * @throws {ConnectError}
 */
export function connect(
  request: ConnectRequest = {},
  {
    service,
    redirect = "blocked",
    returnTo = location.href,
  }: { service?: string; redirect?: "blocked" | "never" | "always"; returnTo?: string } = {},
): Promise<Connected> {
  const base = new URL(service ?? import.meta.url).origin;
  const envelope = {
    holdfast: PROTOCOL,
    type: "request",
    state: token(),
    expires: Math.floor(Date.now() / 1000) + LASTS_S,
    request,
  };
  const popup = redirect === "always" ? null : open(`${base}/connect`, "holdfast", WINDOW);
  const instead = (code: string, message: string) => {
    if (redirect === "never") throw new ConnectError(code, message);
    return leave(base, envelope, returnTo);
  };
  if (!popup) return new Promise((resolve) => resolve(instead("popup_blocked", "The browser blocked the window.")));
  return answered(popup, base, envelope).catch((error: ConnectError) => {
    if (error.code !== "opener_blocked") throw error;
    return instead(error.code, error.message);
  });
}

/**
 * Returns the result if the browser has just been redirected back from the service.
 *
 * @returns null if it has not
 * @throws {ConnectError}
 */
export async function connected(): Promise<Connected | null> {
  const { type, state, result, code, message } = fromFragment(location.hash);
  if (!type) return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  const pending = sessionStorage.getItem(PENDING + state);
  sessionStorage.removeItem(PENDING + state);
  if (!pending) throw new ConnectError("replayed", "This page did not ask for this answer, or has had it before.");
  if (type === "result") return result as Connected;
  throw new ConnectError(String(code), String(message));
}

function answered(popup: Window, base: string, envelope: Message): Promise<Connected> {
  const { state } = envelope;
  let ready = false;
  let closed = 0;
  const began = performance.now(); // the clock may be set meanwhile
  return new Promise((resolve, reject) => {
    const over = (settle: () => void) => {
      clearInterval(timer);
      removeEventListener("message", hear);
      settle();
    };
    const fail = (code: string, message: string) => over(() => reject(new ConnectError(code, message)));
    endFormer();
    endFormer = () => fail("window_closed", "Another call took the window.");
    const hear = (event: MessageEvent) => {
      if (event.origin !== base || event.source !== popup) return;
      const { type, nonce, state: echoed, result, code, message } = fieldsOf(event.data);
      if (type === "ready") {
        ready = true;
        return popup.postMessage({ ...envelope, nonce }, base);
      }
      if (echoed !== state) return;
      if (type === "ping") popup.postMessage({ holdfast: PROTOCOL, type: "pong", state }, base);
      if (type === "result") over(() => resolve(result as Connected));
      if (type === "error") fail(String(code), String(message));
    };
    // A response may still arrive just after the window was closed, so two checks in a row must find it closed.
    const watch = () => {
      closed = popup.closed ? closed + 1 : 0;
      if (closed > 1 && ready) fail("window_closed", "The window was closed before an answer.");
      else if (closed > 1)
        fail(
          "opener_blocked",
          "The window cannot answer: this page's Cross-Origin-Opener-Policy cuts it off, or it was closed at once.",
        );
      else if (!ready && performance.now() - began > LOADS_WITHIN_MS + READY_FOR_MS)
        fail("no_answer", `${base} does not answer.`);
    };
    const timer = setInterval(watch, WATCH_MS);
    addEventListener("message", hear);
  });
}

/** Takes the browser to the service, which redirects it back to `returnTo`. */
function leave(base: string, envelope: Message, returnTo: string): Promise<never> {
  const back = new URL(returnTo, location.href);
  back.hash = "";
  sessionStorage.setItem(PENDING + envelope.state, "1");
  const link = document.createElement("a");
  link.href = `${base}/connect${inFragment({ ...envelope, returnTo: back.href })}`;
  link.referrerPolicy = "origin"; // the service trusts the browser's referrer, not the request, for who is asking
  document.body.append(link);
  link.click();
  return new Promise(() => {});
}
