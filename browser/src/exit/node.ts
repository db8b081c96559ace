/** Asks a chain's node, or a bundler, that the person named (JSON-RPC). */

import { feesAbove } from "../chain/fees.ts";
import { NetworkError, ServiceError, insteadOf } from "../errors.ts";
import { bounded, jsonOf } from "../http/http.ts";

const WITHIN_MS = 30000;
const LOOK_MS = 500;
const MINED_WITHIN_MS = 180000;
const LONGEST_ANSWER = 8 << 20;

/** The node refused; the message is its own. `data`: what it adds, such as revert data. */
export class NodeRefused extends ServiceError {
  declare host: string;
  declare data: unknown;

  constructor(message: string, host: string, data: unknown) {
    super(message);
    this.name = "NodeRefused";
    this.host = host;
    this.data = data;
  }
}

/** an event of a contract; `data` and `topics` are what the contract wrote */
export type Log = { address: string; topics: string[]; data: string; blockNumber: string; logIndex: string };

export type MinedReceipt = { transactionHash: string; status: string; logs: Log[] };

type RpcAnswer = { result?: unknown; error?: { message?: string; code?: number; data?: unknown } };

/** One endpoint. */
export class Node {
  #url;

  /** @param url http or https @throws {TypeError} another address */
  constructor(url: string) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw new TypeError("url");
    this.#url = url;
  }

  /**
   * @returns `T`: as the method's standard says, which the node need not follow
   * @throws {NodeRefused}
   * @throws {NetworkError} there is no answer of JSON-RPC
   */
  async call<T>(method: string, params: unknown[] = []): Promise<T> {
    const { result, error } = await this.#answer(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    if (error) throw new NodeRefused(`${method}: ${error.message ?? error.code}`, this.#host, error.data);
    if (result === undefined) throw new NetworkError(`${method}: no result`);
    return result as T;
  }

  /** @throws {SyntaxError} the answer is not a number of at most 256 bits */
  async quantity(method: string, params?: unknown[]) {
    const answer = await this.call<string>(method, params);
    if (!/^0x[0-9a-f]{1,64}$/i.test(answer)) throw new SyntaxError(method);
    return BigInt(answer);
  }

  /** Calls a contract and returns the words of its answer. */
  async read(to: string, data: string): Promise<string> {
    return this.call("eth_call", [{ to, data }, "latest"]);
  }

  /** Like `read`, null if the contract does not answer with a word. */
  async word(to: string, data: string) {
    try {
      const result = await this.read(to, data);
      return result.length >= 66 ? BigInt(result.slice(0, 66)) : null;
    } catch (error) {
      if (error instanceof NodeRefused) return null;
      throw error;
    }
  }

  /** @returns null also from a node that refuses or does not answer: what was sent is mined nevertheless */
  receipt<T>(method: string, hash: string): Promise<T | null> {
    return this.call<T | null>(method, [hash]).catch(insteadOf(ServiceError, null));
  }

  /**
   * @returns the receipt of a transaction, once it is mined
   * @throws {NetworkError} it is not in time, or the answer is another transaction's receipt
   */
  async mined(hash: string): Promise<MinedReceipt> {
    const end = performance.now() + MINED_WITHIN_MS;
    for (;;) {
      const receipt = await this.receipt<MinedReceipt>("eth_getTransactionReceipt", hash);
      if (receipt && String(receipt.transactionHash).toLowerCase() !== hash.toLowerCase())
        throw new NetworkError("the answer is another transaction's receipt");
      if (receipt) return receipt;
      if (performance.now() > end) throw new NetworkError(`transaction ${hash} is not mined yet`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async #answer(body: string): Promise<RpcAnswer> {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body, redirect: "error" as const };
    try {
      const response = await fetch(this.#url, { ...init, signal: AbortSignal.timeout(WITHIN_MS) });
      return (jsonOf(await bounded(response, LONGEST_ANSWER)) as RpcAnswer | null) ?? {};
    } catch (cause) {
      throw new NetworkError(`${this.#host} does not answer`, { cause });
    }
  }

  get #host() {
    return new URL(this.#url).host;
  }
}

export async function feesOf(node: Node) {
  const [block, suggested] = await Promise.all([
    node.call<{ baseFeePerGas?: string }>("eth_getBlockByNumber", ["latest", false]),
    node.quantity("eth_maxPriorityFeePerGas").catch(() => 1n),
  ]);
  return feesAbove(BigInt(block.baseFeePerGas ?? 0), suggested);
}
