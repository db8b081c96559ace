/** Manages pins on a pinning service through the IPFS Pinning Service API 1.0.0. */

import { PIN_LOOK_MS, PIN_WITHIN_MS } from "../generated/snapshot_retries.ts";
import type { PinInfo, PinRequest } from "../generated/types.ts";
import { fits } from "../http/forms.ts";
import { type Fetch, type Foreign, Http, jsonOf } from "../http/http.ts";
import { NetworkError, StorageError } from "../errors.ts";

const ALL = "queued,pinning,pinned,failed";
/** The form of the report about a pin. */
const PIN = {
  ...{ requestid: "s", status: /^(queued|pinning|pinned|failed)$/, created: "s", delegates: { "[]": "s" } },
  pin: { cid: "s", name: ["zu", /^[^]{0,255}$/u], origins: ["zu", { "[]": "s" }], meta: ["zu", { "{}": "s" }] },
  info: ["zu", { "{}": "s" }],
};

/** `info.status_details`: why a pin has its current status */
type PinReport = PinInfo & { info?: Record<string, string> };

/** in the API's spelling */
type ApisReport = Omit<PinReport, "requestId"> & { requestid: string };

/** the API's query; without `status`, pins of every status */
type Selection = {
  limit?: number;
  meta?: Record<string, string>;
  cid?: string;
  name?: string;
  match?: string;
  before?: string;
  after?: string;
  status?: string;
};

/** An account with a pinning service. Methods throw RequestRefused, NetworkError, and StorageError if a pin fails. */
export class Pinning {
  #http;
  #token;

  /** @param token the access token, or a function that returns one for each request */
  constructor(url: string, token: string | (() => Promise<string>), fetch?: Fetch) {
    this.#http = new Http(url, fetch);
    this.#token = token;
  }

  /** @returns newest first; at most `limit`, 10 by default */
  async list({ meta, limit, ...chosen }: Selection = {}): Promise<PinReport[]> {
    const query = {
      status: ALL,
      ...chosen,
      ...(limit && { limit: String(limit) }),
      ...(meta && { meta: JSON.stringify(meta) }),
    };
    return this.#send("GET", "/pins", { query }, (answer) => {
      const results = (answer as Foreign)?.results;
      if (!Array.isArray(results)) throw new NetworkError("the response is not a list of pins");
      return results.map(reportOf);
    });
  }

  async add(pin: PinRequest): Promise<PinReport> {
    return this.#send("POST", "/pins", { pin }, reportOf);
  }

  async get(requestId: string): Promise<PinReport> {
    return this.#send("GET", pathOf(requestId), {}, reportOf);
  }

  /** @returns the pin that replaces this one */
  async replace(requestId: string, pin: PinRequest): Promise<PinReport> {
    return this.#send("POST", pathOf(requestId), { pin }, reportOf);
  }

  async delete(requestId: string) {
    const headers = await this.#headers();
    await this.#http.send({ method: "DELETE", path: pathOf(requestId), headers });
  }

  /**
   * Waits until a pin is complete.
   * @throws {StorageError} the pin failed, with the service's reason, or took too long
   */
  async wait(
    pin: PinReport,
    { withinMs = PIN_WITHIN_MS, pollMs = PIN_LOOK_MS }: { withinMs?: number; pollMs?: number } = {},
  ): Promise<PinReport> {
    const end = performance.now() + withinMs; // the clock may be set meanwhile
    for (let found = pin; ; found = await this.get(pin.requestId)) {
      if (found.status === "pinned") return found;
      if (found.status === "failed")
        throw new StorageError(
          `the pinning service reports that the pin failed: ${found.info?.status_details ?? "it gives no reason"}`,
        );
      if (performance.now() > end) throw new StorageError("the pin was not complete in time");
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  /** Cancels pending requests. */
  close() {
    this.#http.close();
  }

  async #headers() {
    const token = typeof this.#token === "string" ? this.#token : await this.#token();
    return { Authorization: `Bearer ${token}` };
  }

  async #send<T>(
    method: string,
    path: string,
    { query, pin }: { query?: Record<string, string>; pin?: PinRequest },
    read: (answer: unknown) => T,
  ) {
    const headers = { ...(await this.#headers()), ...(pin && { "Content-Type": "application/json" }) };
    const request = { method, path, query, headers, ...(pin && { body: JSON.stringify(pin) }) };
    return this.#http.send(request, (bytes) => read(jsonOf(bytes)));
  }
}

function pathOf(requestId: string) {
  return `/pins/${encodeURIComponent(requestId)}`;
}

/** Converts a pin from the API's spelling (`requestid`) to the interface's type (`requestId`). */
function reportOf(answer: unknown) {
  if (!fits(answer, PIN)) throw new NetworkError("the response is not a pin");
  const { requestid: requestId, status, created, pin, delegates, info } = answer as ApisReport;
  return { requestId, status, created, pin, delegates, ...(info && { info }) };
}
