/** Asks a chain's node, or a bundler, that the person named (JSON-RPC). */

import { NetworkError, ServiceError } from "../errors.js";
import { bounded, jsonOf } from "../http/http.js";

const WITHIN_MS = 30000;
const LOOK_MS = 500;
const MINED_WITHIN_MS = 180000;
const LONGEST_ANSWER = 8 << 20;

/** The node refused; the message is its own. `data`: what it adds, such as revert data. */
export class NodeRefused extends ServiceError {
  /** @param {string} message @param {string} host @param {unknown} data */
  constructor(message, host, data) {
    super(message);
    this.name = "NodeRefused";
    this.host = host;
    this.data = data;
  }
}

/** One endpoint. */
export class Node {
  #url;

  /** @param {string} url http or https @throws {TypeError} another address */
  constructor(url) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw new TypeError("url");
    this.#url = url;
  }

  /**
   * @param {string} method
   * @param {unknown[]} [params]
   * @returns {Promise<any>}
   * @throws {NodeRefused}
   * @throws {NetworkError} there is no answer of JSON-RPC
   */
  async call(method, params = []) {
    const { result, error } = await this.#answer(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    if (error) throw new NodeRefused(`${method}: ${error.message ?? error.code}`, this.#host, error.data);
    if (result === undefined) throw new NetworkError(`${method}: no result`);
    return result;
  }

  /** @param {string} method @param {unknown[]} [params] */
  async quantity(method, params) {
    return BigInt(await this.call(method, params));
  }

  /** Calls a contract and returns the words of its answer. @param {string} to @param {string} data @returns {Promise<string>} */
  async read(to, data) {
    return this.call("eth_call", [{ to, data }, "latest"]);
  }

  /** Like `read`, null if the contract does not answer with a word. @param {string} to @param {string} data */
  async word(to, data) {
    try {
      const result = await this.read(to, data);
      return result.length >= 66 ? BigInt(result.slice(0, 66)) : null;
    } catch (error) {
      if (error instanceof NodeRefused) return null;
      throw error;
    }
  }

  /** @param {string} hash @returns {Promise<any>} the receipt of a transaction, once it is mined */
  async mined(hash) {
    const end = performance.now() + MINED_WITHIN_MS;
    for (;;) {
      const receipt = await this.call("eth_getTransactionReceipt", [hash]);
      if (receipt) return receipt;
      if (performance.now() > end) throw new NetworkError(`transaction ${hash} is not mined yet`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** @param {string} body */
  async #answer(body) {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body, redirect: /** @type {const} */ ("error") };
    try {
      const response = await fetch(this.#url, { ...init, signal: AbortSignal.timeout(WITHIN_MS) });
      return jsonOf(await bounded(response, LONGEST_ANSWER)) ?? {};
    } catch (cause) {
      throw new NetworkError(`${this.#host} does not answer`, { cause });
    }
  }

  get #host() {
    return new URL(this.#url).host;
  }
}

/**
 * Returns the fees (EIP-1559) in wei per unit of gas: the tip is the suggested one plus a quarter, the maximum is the tip
 * plus twice the newest block's base fee.
 *
 * @param {Node} node
 */
export async function feesOf(node) {
  const [block, suggested] = await Promise.all([
    node.call("eth_getBlockByNumber", ["latest", false]),
    node.quantity("eth_maxPriorityFeePerGas").catch(() => 1n),
  ]);
  const tip = suggested > 1n ? suggested + suggested / 4n : 1n;
  return { tip, maxFee: 2n * BigInt(block.baseFeePerGas ?? 0) + tip };
}
