/** Manages pins on a pinning service through the IPFS Pinning Service API 1.0.0. */

import { PIN_LOOK_MS, PIN_WITHIN_MS } from "../generated/snapshot_retries.js";
import { fits } from "../http/forms.js";
import { Http, jsonOf } from "../http/http.js";
import { NetworkError, StorageError } from "../errors.js";

/** @import {PinInfo, PinRequest} from "../generated/types.js" */

const ALL = "queued,pinning,pinned,failed";
/** The form of the report about a pin. */
const PIN = {
  ...{ requestid: "s", status: /^(queued|pinning|pinned|failed)$/, created: "s", delegates: { "[]": "s" } },
  ...{ pin: { cid: "s", name: "szu" }, info: ["zu", { status_details: "su" }] },
};

/**
 * @typedef {PinInfo & {info?: Record<string, string>}} PinReport `info.status_details`: why a pin has its current status
 * @typedef {{limit?: number, meta?: Record<string, string>, cid?: string, name?: string, match?: string, before?: string,
 *   after?: string, status?: string}} Selection the API's query; without `status`, pins of every status
 */

/** An account with a pinning service. Methods throw RequestRefused, NetworkError, and StorageError if a pin fails. */
export class Pinning {
  #http;
  #token;

  /**
   * @param {string} url
   * @param {string | (() => Promise<string>)} token the access token, or a function that returns one for each request
   * @param {import("../http/http.js").Fetch} [fetch]
   */
  constructor(url, token, fetch) {
    this.#http = new Http(url, fetch);
    this.#token = token;
  }

  /** @param {Selection} [chosen] @returns {Promise<PinReport[]>} newest first; at most `limit`, 10 by default */
  async list({ meta, limit, ...chosen } = {}) {
    const query = {
      status: ALL,
      ...chosen,
      ...(limit && { limit: String(limit) }),
      ...(meta && { meta: JSON.stringify(meta) }),
    };
    return this.#send("GET", "/pins", { query }, (answer) => {
      if (!Array.isArray(answer?.results)) throw new NetworkError("the response is not a list of pins");
      return answer.results.map(reportOf);
    });
  }

  /** @param {PinRequest} pin @returns {Promise<PinReport>} */
  async add(pin) {
    return this.#send("POST", "/pins", { pin }, reportOf);
  }

  /** @param {string} requestId @returns {Promise<PinReport>} */
  async get(requestId) {
    return this.#send("GET", pathOf(requestId), {}, reportOf);
  }

  /** @param {string} requestId @param {PinRequest} pin @returns {Promise<PinReport>} the pin that replaces this one */
  async replace(requestId, pin) {
    return this.#send("POST", pathOf(requestId), { pin }, reportOf);
  }

  /** @param {string} requestId */
  async delete(requestId) {
    const headers = await this.#headers();
    await this.#http.send({ method: "DELETE", path: pathOf(requestId), headers });
  }

  /**
   * Waits until a pin is complete.
   * @param {PinReport} pin @param {{withinMs?: number, pollMs?: number}} [patience] @returns {Promise<PinReport>}
   * @throws {StorageError} the pin failed, with the service's reason, or took too long
   */
  async wait(pin, { withinMs = PIN_WITHIN_MS, pollMs = PIN_LOOK_MS } = {}) {
    const end = performance.now() + withinMs; // the clock may be set meanwhile
    for (let found = pin; ; found = await this.get(pin.requestId)) {
      if (found.status === "pinned") return found;
      if (found.status === "failed") {
        throw new StorageError(
          `the pinning service reports that the pin failed: ${found.info?.status_details ?? "it gives no reason"}`,
        );
      }
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

  /**
   * @template T
   * @param {string} method @param {string} path @param {{query?: Record<string, string>, pin?: PinRequest}} sent
   * @param {(answer: any) => T} read
   */
  async #send(method, path, { query, pin }, read) {
    const headers = { ...(await this.#headers()), ...(pin && { "Content-Type": "application/json" }) };
    const request = { method, path, query, headers, ...(pin && { body: JSON.stringify(pin) }) };
    return this.#http.send(request, (bytes) => read(jsonOf(bytes)));
  }
}

/** @param {string} requestId */
function pathOf(requestId) {
  return `/pins/${encodeURIComponent(requestId)}`;
}

/** Converts a pin from the API's spelling (`requestid`) to the interface's type (`requestId`). @param {any} answer */
function reportOf(answer) {
  if (!fits(answer, PIN)) throw new NetworkError("the response is not a pin");
  const { requestid: requestId, status, created, pin, delegates, info } = answer;
  return { requestId, status, created, pin, delegates, ...(info && { info }) };
}
