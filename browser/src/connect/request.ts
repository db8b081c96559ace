/** Reads an application's request strictly, because all of it is untrusted. Pure; tested without a browser. */

import { THIS_MACHINE } from "../http/hosts.ts";
import { HIDING } from "../kit/hidden.ts";
import type { Message } from "./protocol.ts";

const FIELDS = new Set(["name", "account", "sign", "delegate"]);
const NAME_LENGTH = 40;
const TEXT_BYTES = 4096;
const CHALLENGE = /^[A-Za-z0-9_-]{16,128}$/;
const STATE = /^[0-9a-f]{32}$/;
const DID = /^did:[a-z0-9]+:[\w.:%-]+$/;
const DID_LENGTH = 512;
const LIMIT = /^[1-9][0-9]{0,15}$/;
const YEAR_S = 366 * 86_400;
const LASTS_AT_MOST_S = 900;
const CONTROL = /(?!\n)\p{Cc}/u;
/** Where an emoji needs such a character: its coloured form, a keycap, and the joint of two emoji. */
const IN_EMOJI =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=\p{Extended_Pictographic})/gu;
const ADDRESS_LENGTH = 2048;

export type Sign = { text: string; challenge: string };

export type Delegate = { to: string; limit: string; expires: number };

export type ConnectRequest = {
  name: string;
  account: boolean;
  sign: Sign | null;
  delegate: Delegate | null;
  state: string;
  expires: number;
};

/** The request is refused. `code` is what the application gets. */
export class Refusal extends Error {
  declare code: string;
  declare what: string;

  /** @param what which field is wrong, for the application's developer */
  constructor(code: string, what: string = "") {
    super(what ? `${code}: ${what}` : code);
    this.code = code;
    this.what = what;
  }
}

/**
 * Returns the requesting origin if it is allowed, which means that it is an https origin or localhost.
 *
 * @param origin as the browser states it
 * @throws {Refusal} origin_refused
 */
export function askingOrigin(origin: string): URL {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (
    url &&
    url.origin === origin &&
    (url.protocol === "https:" || (url.protocol === "http:" && THIS_MACHINE.test(url.hostname)))
  )
    return url;
  throw new Refusal("origin_refused");
}

/**
 * Returns the URL to redirect back to, whose origin must be that of the browser's referrer.
 *
 * @throws {Refusal} origin_refused
 */
export function returnAddress(returnTo: unknown, referrer: string): URL {
  if (
    typeof returnTo !== "string" ||
    returnTo.length > ADDRESS_LENGTH ||
    !URL.canParse(returnTo) ||
    !URL.canParse(referrer)
  )
    throw new Refusal("origin_refused");
  const url = new URL(returnTo);
  askingOrigin(url.origin);
  if (!["https:", "http:"].includes(url.protocol)) throw new Refusal("origin_refused"); // a blob: address has its page's origin
  if (url.origin !== new URL(referrer).origin || url.username || url.password) throw new Refusal("origin_refused");
  url.hash = "";
  return url;
}

/**
 * @param now seconds since 1970
 * @throws {Refusal} bad_request, expired
 */
export function readRequest({ state, expires, request }: Message, now: number): ConnectRequest {
  if (typeof state !== "string" || !STATE.test(state)) throw bad("state");
  if (!isWhole(expires) || expires > now + LASTS_AT_MOST_S) throw bad("expires");
  if (expires <= now) throw new Refusal("expired");
  if (!isObject(request)) throw bad("request");
  const unknown = Object.keys(request).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw bad(unknown);
  const { name = "", account = false, sign, delegate } = request;
  if (typeof name !== "string" || [...name].length > NAME_LENGTH || !isReadable(name) || name.includes("\n"))
    throw bad("name");
  if (typeof account !== "boolean") throw bad("account");
  return {
    state,
    expires,
    name,
    account,
    sign: sign === undefined ? null : readSign(sign),
    delegate: delegate === undefined ? null : readDelegate(delegate, now),
  };
}

function readSign(sign: unknown): Sign {
  const { text, challenge } = only(sign, "sign", ["text", "challenge"]);
  if (typeof text !== "string" || new TextEncoder().encode(text).length > TEXT_BYTES) throw bad("sign.text");
  if (!isReadable(text) || text.trim() === "") throw bad("sign.text");
  if (typeof challenge !== "string" || !CHALLENGE.test(challenge)) throw bad("sign.challenge");
  return { text, challenge };
}

function readDelegate(delegate: unknown, now: number): Delegate {
  const { to, limit, expires } = only(delegate, "delegate", ["to", "limit", "expires"]);
  if (typeof to !== "string" || to.length > DID_LENGTH || !DID.test(to)) throw bad("delegate.to");
  if (typeof limit !== "string" || !LIMIT.test(limit) || BigInt(limit) > BigInt(Number.MAX_SAFE_INTEGER))
    throw bad("delegate.limit");
  if (!isWhole(expires) || expires <= now || expires > now + YEAR_S) throw bad("delegate.expires");
  return { to, limit, expires };
}

function only(value: unknown, name: string, fields: string[]): Message {
  if (!isObject(value)) throw bad(name);
  const unknown = Object.keys(value).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw bad(`${name}.${unknown}`);
  return value;
}

function isObject(value: unknown): value is Message {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isReadable(text: string) {
  return text.isWellFormed() && !CONTROL.test(text) && !HIDING.test(text.replace(IN_EMOJI, ""));
}

function bad(what: string) {
  return new Refusal("bad_request", what);
}
