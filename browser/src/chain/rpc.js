/** Calls the chain's JSON-RPC endpoint directly, which the application or the service names. */

import { NetworkError } from "../errors.js";
import { bounded, jsonOf } from "../http/http.js";
import { RpcError } from "../http/service.js";

const WITHIN_MS = 5000;
/** The same limit as in the Python client. */
const LONGEST_ANSWER = 8 << 20;
const RETRY_DELAYS_MS = [200, 400];
const PASSING = new Set([429, 500, 502, 503, 504]);
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
/** IP addresses as URL writes them. */
const LITERAL = /^(\[.*|\d+(\.\d+){3})$/;

/**
 * @param {import("../http/service.js").ServiceClient} client
 * @param {import("./own_gas.js").GasPolicy} policy
 * @returns {Promise<string>} "" if none exists
 */
export async function rpcOf(client, { rpcUrl }) {
  return rpcUrl ?? endpointNamed((await client.status()).rpc ?? "", client.baseUrl);
}

/**
 * Returns the address that a service names if it may be used: an https address with a name, or this machine if the
 * service is on it too. Otherwise a service could have the person's own network asked. The same rule as in the Python client.
 *
 * @param {string} named
 * @param {string} service the service's address
 */
export function endpointNamed(named, service) {
  if (!URL.canParse(named)) return "";
  const [{ protocol, hostname }, own] = [new URL(named), new URL(service)];
  const may = LOOPBACK.test(hostname)
    ? LOOPBACK.test(own.hostname) && ["http:", "https:"].includes(protocol)
    : protocol === "https:" && !LITERAL.test(hostname);
  return may ? named : "";
}

/**
 * @param {string} url
 * @param {string} method
 * @param {unknown[]} [params]
 * @throws {RpcError} the node refuses; `data`: with which a contract did
 * @throws {NetworkError} there is no usable response in time
 */
export async function ask(url, method, params = []) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const { status, answer } = await answered(url, { method: "POST", headers, body });
  if (answer?.error) throw new RpcError({ ...answer.error, message: `${method} failed (${answer.error.code})` });
  if (answer?.result === undefined) throw new NetworkError(`${method} failed (${status})`);
  return answer.result;
}

/** @param {string} url @param {RequestInit} init */
async function answered(url, init) {
  try {
    const response = await sent(url, { ...init, signal: AbortSignal.timeout(WITHIN_MS) });
    return { status: response.status, answer: jsonOf(await bounded(response, LONGEST_ANSWER)) };
  } catch (cause) {
    if (cause instanceof NetworkError) throw cause;
    const late = cause instanceof Error && cause.name === "TimeoutError";
    const why = late ? `does not answer within ${WITHIN_MS} ms` : "could not be reached";
    throw new NetworkError(`the chain's JSON-RPC endpoint ${why}`, { cause });
  }
}

/**
 * Sends a request that only reads, and repeats it after temporary failures.
 *
 * @param {string} url
 * @param {RequestInit} init
 * @returns {Promise<Response>}
 */
async function sent(url, init) {
  for (const delay of RETRY_DELAYS_MS) {
    const response = await fetch(url, init).catch((error) => {
      if (init.signal?.aborted) throw error;
      return null;
    });
    if (response && !PASSING.has(response.status)) return response;
    await sleep(delay);
  }
  return fetch(url, init);
}

/** @param {unknown} answer @returns {bigint} @throws {NetworkError} it is not a number in hexadecimal */
export function quantity(answer) {
  if (typeof answer === "string" && /^0x[0-9a-f]+$/i.test(answer)) return BigInt(answer);
  throw new NetworkError("the answer is not a number");
}

/** @param {number} ms @returns {Promise<null>} */
export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms, null));
}
