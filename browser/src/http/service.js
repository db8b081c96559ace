/** Calls all endpoints of one service with fetch. */

import { NetworkError, RequestRefused } from "../errors.js";
import { EndpointMethods } from "../generated/endpoints.js";
import { FORMS } from "../generated/forms.js";
import { fits } from "./forms.js";
import { Http, jsonOf, textOf } from "./http.js";
import { resultOf } from "./json_rpc.js";

/** The same limit as in the Python client. */
const LONGEST_ANSWER = 32 << 20;
/** @type {Record<string, (bytes: Uint8Array<ArrayBuffer>) => any>} */
const READERS = { json: jsonOf, text: textOf, bytes: ({ buffer }) => buffer };
/** The paths that register someone. */
const ADMITTING = new Set(["/api/sessions", "/api/dids"]);
/** The bundler's methods that change something and therefore need an `Idempotency-Key`. */
const CHARGED = new Set(["eth_sendUserOperation", "pm_sponsorUserOperation"]);

/**
 * @typedef {import("../generated/types.js").Endpoint & {safe?: boolean}} Endpoint safe: a POST that changes nothing
 * @typedef {object} ServiceOptions
 * @property {string | URL} [baseUrl] the service's address; by default the one that served this module
 * @property {number} [timeout] milliseconds for one request; 30000 by default
 * @property {typeof globalThis.fetch} [fetch]
 */

/**
 * Returns the address of the service that served this module, which may differ from the page's origin.
 *
 * @returns {string} without a slash at the end
 */
export function ownAddress() {
  const { protocol, origin } = new URL(import.meta.url);
  return protocol.startsWith("http") ? origin : "http://localhost:8787";
}

/**
 * One service. The fields of requests and responses have the same names as on the wire.
 *
 * Every method throws RequestRefused if the service refuses, NetworkError if no usable response arrives, and
 * ClientStateError after `close`. Requests that change nothing are retried twice. Requests with an `Idempotency-Key` are
 * retried once if their response was lost, and twice while the service still processes the first one.
 */
export class ServiceClient extends EndpointMethods {
  #http;
  #timeout;
  #count = 0;
  /** An invitation code, which a service that admits people by invitation needs to register someone. */
  invitation = "";

  /** @param {ServiceOptions} [options] */
  constructor({ baseUrl = ownAddress(), timeout, fetch } = {}) {
    super();
    this.#http = new Http(String(baseUrl), fetch);
    this.#timeout = timeout;
    this.baseUrl = this.#http.baseUrl;
  }

  /** Cancels pending requests. Repeated calls have no effect. */
  async close() {
    this.#http.close();
  }

  /**
   * Calls the bundler: POST /api/bundler, or of another chain POST /api/bundler/{chain_id}.
   *
   * @param {string} method one of the five allowed methods
   * @param {unknown[]} [params]
   * @param {number | null} [chainId] null: the service's main chain
   * @returns {Promise<any>} the JSON-RPC result
   * @throws {import("./json_rpc.js").RpcError} the bundler returned an error
   */
  async bundler(method, params = [], chainId = null) {
    const id = ++this.#count;
    const body = { jsonrpc: "2.0", id, method, params };
    const path = chainId === null ? "/api/bundler" : `/api/bundler/${chainId}`;
    const answer = await this._call(
      { method: "POST", path, reads: "json", keyed: CHARGED.has(method), safe: !CHARGED.has(method) },
      body,
    );
    return resultOf(answer, id);
  }

  /**
   * Returns an account's state on any chain of `chains`: GET /api/accounts/state/{chain_id}.
   *
   * @param {number} chainId
   * @param {import("../generated/types.js").ReadAccount} fields
   * @returns {Promise<import("../generated/types.js").AccountState>}
   * @throws {RequestRefused}
   */
  accountStateOn(chainId, fields) {
    return this._call(
      { method: "GET", path: `/api/accounts/state/${chainId}`, reads: "json", form: "AccountState" },
      fields,
    );
  }

  /** @returns {Promise<string>} the DID that the service states as its own; "" if it states none */
  async ownDid() {
    try {
      const document = await this._call({ method: "GET", path: "/.well-known/did.json", reads: "json" });
      return typeof document?.id === "string" ? document.id : "";
    } catch (error) {
      if (error instanceof RequestRefused) return "";
      throw error;
    }
  }

  /**
   * Registers a DID: POST /api/dids.
   *
   * @override
   * @param {import("../generated/types.js").RegisterDid} fields
   * @param {string | null} [token] signed by the DID's key, so that credentials that strangers added cannot prevent the
   *   registration
   * @returns {Promise<import("../generated/types.js").DidRegistered>}
   * @throws {RequestRefused}
   */
  registerDid(fields, token) {
    const headers = token ? { authorization: `Bearer ${token}` } : undefined;
    return this._call(
      { method: "POST", path: "/api/dids", reads: "json", keyed: true, form: "DidRegistered" },
      fields,
      headers,
    );
  }

  /** @param {string} didHash @returns {Promise<import("../generated/types.js").IndexerDid>} */
  indexerDid(didHash) {
    return this.#indexed(`api/dids/${encodeURIComponent(didHash)}`, {}, "IndexerDid");
  }

  /** @param {string} aliasHash @returns {Promise<import("../generated/types.js").IndexerAlias>} */
  indexerAlias(aliasHash) {
    return this.#indexed(`api/aliases/${encodeURIComponent(aliasHash)}`, {}, "IndexerAlias");
  }

  /** @param {string} address @returns {Promise<import("../generated/types.js").IndexerAccount>} */
  indexerAccount(address) {
    return this.#indexed(`api/accounts/${encodeURIComponent(address)}`, {}, "IndexerAccount");
  }

  /**
   * @param {string} address
   * @param {Record<string, string>} [query] `cursor`: continues with older ones
   * @returns {Promise<any>} the USDC that the address received and sent, newest first, in the indexer's own form
   */
  indexerTransfers(address, query) {
    return this.#indexed(`api/accounts/${encodeURIComponent(address)}/transfers`, query);
  }

  /** @param {Record<string, string>} [query] @returns {Promise<any>} in the indexer's own form */
  indexerAccounts(query) {
    return this.#indexed("api/accounts", query);
  }

  /** @returns {Promise<import("../generated/types.js").IndexerStats>} */
  indexerStats() {
    return this.#indexed("api/stats", {}, "IndexerStats");
  }

  /** @param {Record<string, string>} [query] @returns {Promise<any>} in the indexer's own form */
  indexerEvents(query) {
    return this.#indexed("api/events", query);
  }

  /** @returns {Promise<import("../generated/types.js").IndexerHealth>} */
  indexerHealth() {
    return this.#indexed("health", {}, "IndexerHealth");
  }

  /**
   * @param {string} path
   * @param {Record<string, string>} [query]
   * @param {string} [form]
   */
  #indexed(path, query, form) {
    return this._call({ method: "GET", path: `/api/indexer/${path}`, reads: "json", form }, query);
  }

  /**
   * Sends one request.
   *
   * @override
   * @param {Endpoint} endpoint
   * @param {object} [fields]
   * @param {Record<string, string>} [headers]
   */
  async _call(endpoint, fields, headers = {}) {
    const { reads, form, ...request } = endpoint;
    const isRead = request.method === "GET";
    /** @type {Record<string, string>} */
    const sent = { ...(!isRead && { "content-type": "application/json" }), ...headers };
    if (this.invitation && ADMITTING.has(request.path)) sent["holdfast-invitation"] = this.invitation;
    const content = isRead ? { query: given(fields) } : { body: JSON.stringify(fields ?? {}) };
    const options = { headers: sent, timeout: this.#timeout, longest: LONGEST_ANSWER };
    return this.#http.send({ ...request, ...content, ...options }, (bytes) => {
      const answer = READERS[reads](bytes);
      if (!form || fits(answer, FORMS[form])) return answer;
      throw new NetworkError(`${request.path} did not answer in the documented form`);
    });
  }
}

/** @param {object} [fields] @returns {Record<string, string>} the fields that have a value, as text */
function given(fields = {}) {
  const found = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(found.map(([name, value]) => [name, String(value)]));
}
