/** Sends requests to one server within limits on time and size. Parses the error responses of each protocol. */

import { ClientStateError, NetworkError, RequestRefused, printable } from "../errors.js";
import { retryAfterMs, secondsIn } from "./retries.js";

const TIMEOUT_MS = 30_000;
/** The longest response that is read unless the caller allows more; enough for a list of pins or an error response. */
const LONGEST_ANSWER = 1 << 20;
/** The most characters of a refusal's code, and of its sentence. */
const LONGEST_TEXT = 500;

/**
 * @typedef {typeof globalThis.fetch} Fetch
 * @typedef {object} HttpRequest
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string>} [query]
 * @property {Record<string, string>} [headers]
 * @property {BodyInit} [body]
 * @property {number} [longest] maximum bytes of the response
 * @property {number} [timeout] milliseconds, for the whole request
 * @property {boolean} [safe] whether it changes nothing; by default a GET does not
 * @property {boolean} [keyed] whether it is sent with an `Idempotency-Key`
 * @property {RequestCache} [cache] how the browser's cache is used
 * @property {RequestRedirect} [redirect] "follow" only for content that is verified whatever server sends it
 * @property {AbortSignal} [signal] ends the request and its retries
 */

/** A client for one base address. */
export class Http {
  #fetch;
  #closing = new AbortController();

  /**
   * @param {string} baseUrl
   * @param {Fetch} [fetch]
   */
  constructor(baseUrl, fetch = globalThis.fetch.bind(globalThis)) {
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    this.#fetch = fetch;
  }

  get host() {
    return new URL(this.baseUrl).host;
  }

  /**
   * Sends a request, again if that may help, and returns what `read` makes of the response's bytes.
   *
   * @template [T=Uint8Array<ArrayBuffer>]
   * @param {HttpRequest} request
   * @param {(bytes: Uint8Array<ArrayBuffer>) => T} [read]
   * @returns {Promise<T>}
   * @throws {RequestRefused} the server refuses
   * @throws {NetworkError} there is no usable response
   */
  async send({ keyed = false, safe, ...request }, read = (bytes) => /** @type {T} */ (bytes)) {
    const sent = keyed ? withKey(request) : request;
    const repeated = { safe: safe ?? request.method === "GET", keyed };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return read(await this.#once(sent));
      } catch (error) {
        const wait = error instanceof NetworkError ? retryAfterMs(repeated, error, attempt) : null;
        if (wait === null || request.signal?.aborted || this.#closing.signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  /** @param {HttpRequest} request @returns {Promise<any>} the response's JSON value */
  json(request) {
    return this.send(request, jsonOf);
  }

  /** Cancels pending requests. */
  close() {
    this.#closing.abort();
  }

  /** @param {HttpRequest} request */
  async #once({
    method,
    path,
    query = {},
    headers = {},
    body,
    longest = LONGEST_ANSWER,
    timeout = TIMEOUT_MS,
    signal: ended,
    cache,
    redirect = "error",
  }) {
    if (this.#closing.signal.aborted) throw new ClientStateError("the client is closed");
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeout), ...(ended ? [ended] : [])]);
    const search = new URLSearchParams(query).toString();
    try {
      const url = `${this.baseUrl}${path}${search && `?${search}`}`;
      const response = await this.#fetch(url, { method, headers, body, signal, cache, redirect, credentials: "omit" });
      const bytes = await bounded(response, response.ok ? longest : LONGEST_ANSWER);
      if (!response.ok) throw refusal(response, bytes);
      return bytes;
    } catch (cause) {
      if (cause instanceof NetworkError) throw cause;
      if (this.#closing.signal.aborted)
        throw new ClientStateError("the client was closed during the request", { cause });
      const late = cause instanceof Error && cause.name === "TimeoutError";
      throw new NetworkError(late ? `no answer within ${timeout} ms` : `${this.baseUrl} could not be reached`, {
        cause,
      });
    }
  }
}

/**
 * Returns the response's bytes.
 * @param {Response} response
 * @param {number} longest
 * @throws {NetworkError} there are more than `longest`
 */
export async function bounded(response, longest) {
  const reader = response.body?.getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let length = 0;
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    length += read.value.length;
    if (length > longest) {
      await reader?.cancel();
      throw new NetworkError(`the response has more than ${longest} bytes`);
    }
    parts.push(read.value);
  }
  return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ (parts)).arrayBuffer());
}

/**
 * @param {Response} response
 * @param {Uint8Array} bytes
 */
function refusal(response, bytes) {
  const body = jsonOrNull(bytes);
  const code = cut(body?.error?.reason ?? body?.error);
  return new RequestRefused(code || `http_${response.status}`, response.status, {
    retryAfter: secondsIn(response.headers.get("retry-after")),
    requestId: response.headers.get("x-request-id"),
    details: cut(body?.error?.details),
  });
}

/** @param {unknown} text @returns {string | null} null for anything else */
function cut(text) {
  return typeof text === "string" ? printable(text.slice(0, LONGEST_TEXT)) : null;
}

/** @param {Uint8Array} bytes */
function jsonOrNull(bytes) {
  try {
    return jsonOf(bytes);
  } catch {
    return null;
  }
}

/** @param {HttpRequest} request @returns {HttpRequest} the same under an `Idempotency-Key` */
function withKey(request) {
  return { ...request, headers: { ...request.headers, "idempotency-key": crypto.randomUUID() } };
}

/** @param {Uint8Array} bytes @returns {string} */
export function textOf(bytes) {
  return new TextDecoder().decode(bytes);
}

/** @param {Uint8Array} bytes @returns {any} @throws {NetworkError} they are not JSON */
export function jsonOf(bytes) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    throw new NetworkError("the answer is not JSON", { cause });
  }
}
