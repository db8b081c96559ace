/** Calls the chain's JSON-RPC endpoint directly, which the application or the service names. */

import { THIS_MACHINE } from "../http/hosts.ts";
import { NetworkError } from "../errors.ts";
import { DELAYS_MS, STATUSES, WITHIN_MS } from "../generated/chain_retries.ts";
import { bounded, type Foreign, jsonOf } from "../http/http.ts";
import { resultOf } from "../http/json_rpc.ts";
import type { ServiceClient } from "../http/service.ts";
import type { GasPolicy } from "./own_gas.ts";

/** The same limit as in the Python client. */
const LONGEST_ANSWER = 8 << 20;
/** URL would add missing slashes, and take spaces away. */
const WRITTEN_OUT = /^https?:\/\/\S+$/i;
/** IP addresses as URL writes them. */
const LITERAL = /^(\[.*|\d+(\.\d+){3})$/;

/** @returns "" if none exists */
export async function rpcOf(client: ServiceClient, { rpcUrl }: GasPolicy): Promise<string> {
  return rpcUrl ?? endpointNamed((await client.status()).rpc ?? "", client.baseUrl);
}

/**
 * Returns the address that a service names if it may be used: an https address with a name, or this machine if the
 * service is on it too. Otherwise a service could have the person's own network asked. The same rule as in the Python
 * client.
 *
 * @param service the service's address
 */
export function endpointNamed(named: string, service: string) {
  if (!WRITTEN_OUT.test(named) || !URL.canParse(named)) return "";
  const [{ protocol, hostname }, own] = [new URL(named), new URL(service)];
  const may = THIS_MACHINE.test(hostname)
    ? THIS_MACHINE.test(own.hostname) && ["http:", "https:"].includes(protocol)
    : protocol === "https:" && !LITERAL.test(hostname);
  return may ? named : "";
}

/**
 * @throws {RpcError} the node refuses; `data`: what a contract reverted with, if one did
 * @throws {NetworkError} there is no usable response in time
 */
export async function ask(url: string, method: string, params: unknown[] = []) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  // A redirect could lead into the person's own network, past the check of the endpoint's address.
  const init = { method: "POST", headers, body, redirect: "error" as const };
  const answer = jsonOf(await sent(url, { ...init, signal: AbortSignal.timeout(WITHIN_MS) }, method)) as Foreign;
  return resultOf(answer, 1, `${method} failed (${(answer?.error as Foreign)?.code})`);
}

/**
 * Sends a request that only reads, and repeats it after temporary failures.
 *
 * @param delays in ms
 */
async function sent(
  url: string,
  init: RequestInit,
  method: string,
  [delay, ...later]: number[] = DELAYS_MS,
): Promise<Uint8Array> {
  let failed;
  try {
    const response = await fetch(url, init);
    if (response.ok) return await bounded(response, LONGEST_ANSWER);
    failed = new NetworkError(`${method} failed (${response.status})`);
    if (!STATUSES.includes(response.status)) throw failed;
  } catch (cause) {
    if (cause instanceof NetworkError) throw cause;
    const late = cause instanceof Error && cause.name === "TimeoutError";
    const why = late ? `does not answer within ${WITHIN_MS} ms` : "could not be reached";
    failed = new NetworkError(`the chain's JSON-RPC endpoint ${why}`, { cause });
    if (late) throw failed;
  }
  if (delay === undefined) throw failed;
  await sleep(delay);
  return sent(url, init, method, later);
}

/** @throws {NetworkError} it is not a quantity of Ethereum's JSON-RPC */
export function quantity(answer: unknown): bigint {
  if (typeof answer === "string" && /^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63})$/.test(answer)) return BigInt(answer);
  throw new NetworkError("the answer is not a quantity");
}

/**
 * Returns the digits of data of Ethereum's JSON-RPC.
 *
 * @param least bytes
 * @returns in lower case
 * @throws {NetworkError} it is something else, or shorter
 */
export function digitsOf(answer: unknown, least: number = 0): string {
  if (isData(answer) && answer.length >= 2 + 2 * least) return answer.slice(2).toLowerCase();
  throw new NetworkError(`the chain's endpoint returns something other than ${least} bytes of data`);
}

/** @returns whether it is whole bytes in 0x-hex */
export function isData(value: unknown): value is string {
  return typeof value === "string" && /^0x([0-9a-fA-F]{2})*$/.test(value);
}

/** Whether a contract exists. @param url the chain's endpoint */
export async function hasCode(url: string, address: string): Promise<boolean> {
  return digitsOf(await ask(url, "eth_getCode", [address, "latest"])) !== "";
}

export function sleep(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, ms, null));
}
