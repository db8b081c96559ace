/** Calls all endpoints of one service with fetch. */

import { NetworkError, RequestRefused } from "../errors.ts";
import { EndpointMethods } from "../generated/endpoints.ts";
import { FORMS } from "../generated/forms.ts";
import type {
  AccountState,
  DidRegistered,
  IndexerAccount,
  IndexerAlias,
  IndexerDid,
  IndexerHealth,
  IndexerStats,
  ReadAccount,
  RegisterDid,
} from "../generated/types.ts";
import { fits } from "./forms.ts";
import { type Foreign, Http, jsonOf, textOf } from "./http.ts";
import { resultOf } from "./json_rpc.ts";

/** The same limit as in the Python client. */
const LONGEST_ANSWER = 32 << 20;
const READERS: Record<string, (bytes: Uint8Array<ArrayBuffer>) => unknown> = {
  json: jsonOf,
  text: textOf,
  bytes: ({ buffer }) => buffer,
};
/** The paths that register someone. */
const ADMITTING = new Set(["/api/sessions", "/api/dids"]);
/** The bundler's methods that change something and therefore need an `Idempotency-Key`. */
const CHARGED = new Set(["eth_sendUserOperation", "pm_sponsorUserOperation"]);

/** safe: a POST that changes nothing */
type Endpoint = import("../generated/types.ts").Endpoint & { safe?: boolean };

/** A page of one of the indexer's lists; null at the end. */
type IndexerPage = { next_cursor: string | null };

/** A page of transfers of USDC, as the indexer states them. */
export interface IndexerTransfers extends IndexerPage {
  transfers: {
    direction: "in" | "out";
    token: string;
    from: string;
    to: string;
    amount: string;
    block_number: string;
    log_index: number;
    tx_hash: string;
    time: string;
  }[];
}

export interface ServiceOptions {
  /** the service's address; by default the one that served this module */ baseUrl?: string | URL;
  /** milliseconds for one request; 30000 by default */ timeout?: number;
  fetch?: typeof globalThis.fetch;
}

/**
 * Returns the address of the service that served this module, which may differ from the page's origin.
 *
 * @returns without a slash at the end
 */
export function ownAddress(): string {
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
  declare baseUrl: string;

  #http;
  #timeout;
  #count = 0;
  /** An invitation code, which a service that admits people by invitation needs to register someone. */
  invitation = "";

  constructor({ baseUrl = ownAddress(), timeout, fetch }: ServiceOptions = {}) {
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
   * @param method one of the five allowed methods
   * @param chainId null: the service's main chain
   * @returns the JSON-RPC result
   * @throws {RpcError} the bundler returned an error
   */
  async bundler(method: string, params: unknown[] = [], chainId: number | null = null): Promise<unknown> {
    const id = ++this.#count;
    const body = { jsonrpc: "2.0", id, method, params };
    const path = chainId === null ? "/api/bundler" : `/api/bundler/${chainId}`;
    const answer = await this._call<Foreign>(
      { method: "POST", path, reads: "json", keyed: CHARGED.has(method), safe: !CHARGED.has(method) },
      body,
    );
    return resultOf(answer, id);
  }

  /**
   * Returns an account's state on any chain of `chains`: GET /api/accounts/state/{chain_id}.
   *
   * @throws {RequestRefused}
   */
  accountStateOn(chainId: number, fields: ReadAccount): Promise<AccountState> {
    return this._call(
      { method: "GET", path: `/api/accounts/state/${chainId}`, reads: "json", form: "AccountState" },
      fields,
    );
  }

  /** @returns the DID that the service states as its own; "" if it states none */
  async ownDid(): Promise<string> {
    try {
      const document: Foreign = await this._call({ method: "GET", path: "/.well-known/did.json", reads: "json" });
      return typeof document?.id === "string" ? document.id : "";
    } catch (error) {
      if (error instanceof RequestRefused) return "";
      throw error;
    }
  }

  /**
   * Registers a DID: POST /api/dids.
   *
   * @param token signed by the DID's key, so that credentials that strangers added cannot prevent the registration
   * @throws {RequestRefused}
   */
  override registerDid(fields: RegisterDid, token?: string | null): Promise<DidRegistered> {
    const headers = token ? { authorization: `Bearer ${token}` } : undefined;
    return this._call(
      { method: "POST", path: "/api/dids", reads: "json", keyed: true, form: "DidRegistered" },
      fields,
      headers,
    );
  }

  indexerDid(didHash: string): Promise<IndexerDid> {
    return this.#indexed(`api/dids/${encodeURIComponent(didHash)}`, {}, "IndexerDid");
  }

  indexerAlias(aliasHash: string): Promise<IndexerAlias> {
    return this.#indexed(`api/aliases/${encodeURIComponent(aliasHash)}`, {}, "IndexerAlias");
  }

  indexerAccount(address: string): Promise<IndexerAccount> {
    return this.#indexed(`api/accounts/${encodeURIComponent(address)}`, {}, "IndexerAccount");
  }

  /**
   * @param query `cursor`: continues with older ones
   * @returns the USDC that the address received and sent, newest first
   */
  indexerTransfers(address: string, query?: Record<string, string>): Promise<IndexerTransfers> {
    return this.#indexed(`api/accounts/${encodeURIComponent(address)}/transfers`, query);
  }

  indexerAccounts(query?: Record<string, string>): Promise<IndexerPage & { accounts: IndexerAccount[] }> {
    return this.#indexed("api/accounts", query, "IndexerAccounts");
  }

  indexerStats(): Promise<IndexerStats> {
    return this.#indexed("api/stats", {}, "IndexerStats");
  }

  /** @returns each event with the fields of its kind */
  indexerEvents(query?: Record<string, string>): Promise<IndexerPage & { events: Record<string, unknown>[] }> {
    return this.#indexed("api/events", query, "IndexerEvents");
  }

  indexerHealth(): Promise<IndexerHealth> {
    return this.#indexed("health", {}, "IndexerHealth");
  }

  #indexed<T>(path: string, query?: Record<string, string>, form?: string): Promise<T> {
    return this._call({ method: "GET", path: `/api/indexer/${path}`, reads: "json", form }, query);
  }

  /** Sends one request. */
  override async _call<T>(endpoint: Endpoint, fields?: object, headers: Record<string, string> = {}): Promise<T> {
    const { reads, form, ...request } = endpoint;
    const isRead = request.method === "GET";
    const sent: Record<string, string> = { ...(!isRead && { "content-type": "application/json" }), ...headers };
    if (this.invitation && ADMITTING.has(request.path)) sent["holdfast-invitation"] = this.invitation;
    const content = isRead ? { query: given(fields) } : { body: JSON.stringify(fields ?? {}) };
    const options = { headers: sent, timeout: this.#timeout, longest: LONGEST_ANSWER };
    return this.#http.send({ ...request, ...content, ...options }, (bytes) => {
      const answer = READERS[reads](bytes);
      if (!form || fits(answer, FORMS[form])) return answer as T;
      throw new NetworkError(`${request.path} did not answer in the documented form`);
    });
  }
}

/** @returns the fields that have a value, as text */
function given(fields: object = {}): Record<string, string> {
  const found = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(found.map(([name, value]) => [name, String(value)]));
}
