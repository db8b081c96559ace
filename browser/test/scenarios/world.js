/** The servers of the scenarios of registrations and payments: a service with its bundler, and a chain. */

import { reached } from "./script.js";

const ZEROS = `0x${"00".repeat(32)}`;
/** For a day: no effect. */
const CACHED = "GET /api/contracts";

/** What the servers know. `script` answers the present event's requests; without an answer, the usual one is given. */
export class World {
  /** By credential. */
  records = {};
  /** Hashes of user operations, in the order of signing. */
  signed = [];
  mined = new Set();

  constructor(defaults, { account = {} }, script) {
    this.defaults = defaults;
    this.facts = defaults.facts;
    this.script = script;
    this.nonce = account.nonce ?? 0;
    this.registered = account.registered ?? false;
  }

  /** Returns the name of a user operation for its hash, and any other value unchanged. */
  symbol(value) {
    return this.signed.includes(value) ? `operation ${this.signed.indexOf(value) + 1}` : value;
  }

  /** Returns a text with the names of user operations in place of their hashes. */
  named(text) {
    if (typeof text !== "string") return text;
    return this.signed.reduce((named, hash, at) => named.replaceAll(hash, `operation ${at + 1}`), text);
  }

  /** Answers a request to any of the servers. */
  fetch = async (url, { method = "GET", body: text, headers = {} } = {}) => {
    const { host, pathname, searchParams } = new URL(url);
    const body = text ? JSON.parse(text) : Object.fromEntries(searchParams);
    if (host === "rpc.example") return this.#rpc("chain", body);
    if (pathname === "/api/bundler") return this.#rpc("bundler", body);
    const name = `${method} ${pathname.split("/").slice(0, 5).join("/")}`;
    return this.#http(name, body, detailOf(name, body, this.facts) + ("authorization" in headers ? " signed" : ""));
  };

  async #http(name, body, detail) {
    const answer = await this.performed(name, detail, () => this.#change(name, body));
    if (answer?.refused) {
      const [code, status] = answer.refused;
      const headers = "retry_after" in answer ? { "retry-after": String(answer.retry_after) } : {};
      return Response.json({ error: code }, { status, headers });
    }
    return Response.json(answer ?? this.#usual(name, body));
  }

  async #rpc(server, { id, method, params = [] }) {
    const name = `${server} ${method}`;
    const answer = await this.performed(name, this.#ofOperation(method, params), () => this.#send(method, params));
    if (answer?.refused) return Response.json({ error: answer.refused[0] }, { status: answer.refused[1] });
    if (answer === "reverted")
      return Response.json({ jsonrpc: "2.0", id, result: { ...this.#receipt(params[0]), success: false } });
    if (answer?.rpc) {
      const [code, message, data] = answer.rpc;
      return Response.json({ jsonrpc: "2.0", id, error: { code, message, data } });
    }
    return Response.json({ jsonrpc: "2.0", id, result: answer === undefined ? this.#result(name, params) : answer });
  }

  /** Records an effect, and returns its scripted answer, undefined for the usual one. Throws as fetch does. */
  async performed(name, detail, then) {
    const answer = this.script.scripted(name);
    if (reached(answer) && !answer?.rpc) then();
    if (name !== CACHED) await this.script.perform(name + detail);
    if (answer === "lost" || answer === "unsent") throw new TypeError("lost");
    if (answer === "late") throw new DOMException("late", "TimeoutError");
    return answer !== null && typeof answer === "object" && "result" in answer ? answer.result : (answer ?? undefined);
  }

  #ofOperation(method, params) {
    if (method === "eth_getUserOperationReceipt") return ` of ${this.symbol(params[0])}`;
    if (method === "eth_call" && params[0].data === this.facts.get_alias) return ` of ${this.facts.alias}`;
    const nonce = params[0]?.callData ? ` nonce ${BigInt(params[0].nonce)}` : "";
    if (method !== "eth_sendUserOperation") return nonce;
    return `${nonce}, the ${BigInt(params[0].paymaster ?? "0x0") ? "sponsor" : "account"} pays`;
  }

  #change(name, body) {
    if (name === "POST /api/dids") this.records[body.credentialId] = filled(this.defaults.registered, body);
  }

  #send(method, params) {
    if (method !== "eth_sendUserOperation" || this.mined.has(this.signed.at(-1))) return;
    this.mined.add(this.signed.at(-1));
    this.nonce += 1;
    this.registered ||= params[0].callData === this.facts.register;
  }

  #usual(name, body) {
    if (name === "GET /api/accounts/state")
      return body.account === this.facts.account ? this.#ownState() : this.defaults.payee_state;
    if (name === "GET /api/dids/lookup" && body.credentialId in this.records) return this.records[body.credentialId];
    return filled(this.defaults.answers[name], body);
  }

  #ownState() {
    const { x, y, did_hash: did } = this.facts;
    const [pubKeyX, pubKeyY] = this.nonce ? [x, y] : ["0x0", "0x0"];
    const state = { nonce: String(this.nonce), did: this.registered ? did : ZEROS, isActive: this.registered };
    return { ...state, pubKeyX, pubKeyY };
  }

  #result(name, params) {
    if (name === "bundler eth_sendUserOperation") return this.signed.at(-1);
    if (name === "bundler eth_getUserOperationReceipt")
      return this.mined.has(params[0]) ? this.#receipt(params[0]) : null;
    return this.defaults.answers[name];
  }

  #receipt(hash) {
    const receipt = { transactionHash: this.facts.transaction, blockNumber: "0x7", logs: [] };
    return { userOpHash: hash, success: true, receipt, logs: [] };
  }
}

function detailOf(name, { txHash, code, credentialId }, { credential }) {
  if (credentialId && credentialId !== credential) return ` of ${credentialId}`;
  if (name === "POST /api/dids") return txHash === ZEROS ? " without a transaction" : " with a transaction";
  return name === "POST /api/verify/check" ? ` ${code}` : "";
}

/** Returns a default with the request's fields in place of `$field`. */
function filled(value, body) {
  if (value?.constructor === Object)
    return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, filled(it, body)]));
  return typeof value === "string" && value.startsWith("$") ? (body[value.slice(1)] ?? null) : value;
}
