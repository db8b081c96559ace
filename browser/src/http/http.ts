/** Sends requests to one server within limits on time and size. Parses the error responses of each protocol. */

import { ClientStateError, NetworkError, RequestRefused, printable } from "../errors.ts";
import { retryAfterMs, secondsIn } from "./retries.ts";

const TIMEOUT_MS = 30_000;
/** The longest response that is read unless the caller allows more; enough for a list of pins or an error response. */
const LONGEST_ANSWER = 1 << 20;
/** The most characters of a refusal's code, and of its sentence. */
const LONGEST_TEXT = 500;

export type Members = { readonly [member: string]: unknown };

/** Anything, of which members can be read; they are missing from all but objects. */
export type Foreign = Members | null | undefined;

export type Fetch = typeof globalThis.fetch;

interface HttpRequest {
  method: string;
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: BodyInit;
  /** maximum bytes of the response */ longest?: number;
  /** milliseconds, for the whole request */ timeout?: number;
  /** whether it changes nothing; by default a GET does not */ safe?: boolean;
  /** whether it is sent with an `Idempotency-Key` */ keyed?: boolean;
  /** how the browser's cache is used */ cache?: RequestCache;
  /** "follow" only for content that is verified whatever server sends it */ redirect?: RequestRedirect;
  /** ends the request and its retries */ signal?: AbortSignal;
}

/** A client for one base address. */
export class Http {
  declare baseUrl: string;

  #fetch;
  #closing = new AbortController();

  constructor(baseUrl: string, fetch: Fetch = globalThis.fetch.bind(globalThis)) {
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    this.#fetch = fetch;
  }

  get host() {
    return new URL(this.baseUrl).host;
  }

  /**
   * Sends a request, again if that may help, and returns what `read` makes of the response's bytes.
   *
   * @throws {RequestRefused} the server refuses
   * @throws {NetworkError} there is no usable response
   */
  async send<T = Uint8Array<ArrayBuffer>>(
    { keyed = false, safe, ...request }: HttpRequest,
    read: (bytes: Uint8Array<ArrayBuffer>) => T = (bytes) => bytes as T,
  ): Promise<T> {
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

  /** @returns the response's JSON value */
  json(request: HttpRequest): Promise<unknown> {
    return this.send(request, jsonOf);
  }

  /** Cancels pending requests. */
  close() {
    this.#closing.abort();
  }

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
  }: HttpRequest) {
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
 * @throws {NetworkError} there are more than `longest`
 */
export async function bounded(response: Response, longest: number) {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    length += read.value.length;
    if (length > longest) {
      await reader?.cancel();
      throw new NetworkError(`the response has more than ${longest} bytes`);
    }
    parts.push(read.value);
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

function refusal(response: Response, bytes: Uint8Array) {
  const body = jsonOrNull(bytes) as Foreign;
  const error = body?.error as Foreign;
  const code = cut(error?.reason ?? error);
  return new RequestRefused(code || `http_${response.status}`, response.status, {
    retryAfter: secondsIn(response.headers.get("retry-after")),
    requestId: response.headers.get("x-request-id"),
    details: cut(error?.details),
  });
}

/** @returns null for anything else */
function cut(text: unknown): string | null {
  return typeof text === "string" ? printable(text.slice(0, LONGEST_TEXT)) : null;
}

function jsonOrNull(bytes: Uint8Array) {
  try {
    return jsonOf(bytes);
  } catch {
    return null;
  }
}

/** @returns the same under an `Idempotency-Key` */
function withKey(request: HttpRequest): HttpRequest {
  return { ...request, headers: { ...request.headers, "idempotency-key": crypto.randomUUID() } };
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** @throws {NetworkError} they are not JSON */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    throw new NetworkError("the answer is not JSON", { cause });
  }
}
