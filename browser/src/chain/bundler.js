/** Gets user operations onto the chain through the service's bundler, which sponsors them or estimates their gas. */

import { RpcError } from "../http/json_rpc.js";
import { NetworkError, printable } from "../errors.js";
import { RECEIPT_WITHIN_MS } from "../generated/operation_retries.js";
import { isAddress } from "./calls.js";
import { OperationFailed } from "./errors.js";
import { isSponsored } from "./fees.js";
import { digitsOf, isData, quantity, sleep } from "./rpc.js";

const ESTIMATES = ["callGasLimit", "verificationGasLimit", "preVerificationGas"];
/** Sizes of the numbers in the packed form of an operation (ERC-4337); the others have 128 bits. */
const BITS = /** @type {Record<string, bigint>} */ ({ preVerificationGas: 256n });
const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;
/** The longest reason that a bundler states for a failed operation. */
const LONGEST_REASON = 300;
const SPONSORS = [
  ...ESTIMATES,
  "maxFeePerGas",
  "maxPriorityFeePerGas",
  "paymaster",
  "paymasterVerificationGasLimit",
  "paymasterPostOpGasLimit",
  "paymasterData",
];
/** The placeholder signature's r and s are in range and s is low, so gas estimates include the whole verification. */
export const PLACEHOLDER_SIGNATURE = `0x${"7f".repeat(32)}${"3f".repeat(32)}`;
/**
 * An unsigned operation of a deployed account, without gas and fees.
 * @type {Omit<UserOp, "sender" | "nonce" | "callData">}
 */
export const EMPTY_OPERATION = {
  factory: null,
  factoryData: null,
  callGasLimit: "0x0",
  verificationGasLimit: "0x0",
  preVerificationGas: "0x0",
  maxFeePerGas: "0x0",
  maxPriorityFeePerGas: "0x0",
  paymaster: null,
  paymasterVerificationGasLimit: null,
  paymasterPostOpGasLimit: null,
  paymasterData: null,
  signature: "0x",
};
/** For an invalid signature the account does not look up the key, so the estimate lacks the gas of that. */
const BY_NAME_MARGIN = 10000n;
/** The same for two, of which one is an assertion: its placeholder fails before the curve arithmetic. */
const TWO_NAMES_MARGIN = 620000n;
/**
 * The first interval between requests for a receipt. The interval is short because fast chains take only seconds and a
 * person is waiting.
 */
const SOON_MS = 150;
const SOON_LOOKS = 20;
const SLOWEST_LOOK_MS = 1000;

/**
 * @typedef {import("../generated/types.js").UserOp} UserOp
 * @typedef {import("../http/service.js").ServiceClient} ServiceClient
 * @typedef {{transactionHash: string, blockNumber: number}} Receipt
 */

/** A service's bundler, used for one entry point. */
export class Bundler {
  #client;
  #entryPoint;
  #chainId;

  /**
   * @param {ServiceClient} client @param {string} entryPoint
   * @param {number | null} [chainId] null: the service's main chain
   */
  constructor(client, entryPoint, chainId = null) {
    this.#client = client;
    this.#entryPoint = entryPoint;
    this.#chainId = chainId;
  }

  /**
   * Returns the operation with the sponsor's fields and gas limits.
   * @param {UserOp} operation
   * @returns {Promise<UserOp>}
   * @throws {OperationFailed} the sponsor refuses, or its response has no paymaster
   */
  async sponsored(operation) {
    const margin = isByName(operation) ? [{ verificationGasMargin: `0x${marginOf(operation).toString(16)}` }] : [];
    const given = await this.#ask("pm_sponsorUserOperation", [placeholder(operation), this.#entryPoint, ...margin]);
    const sponsored = merged(operation, given, SPONSORS);
    // Without a paymaster, the account itself would pay for an operation that its owner believes to be sponsored.
    if (!isSponsored(sponsored)) throw new OperationFailed("the sponsor named no paymaster");
    return sponsored;
  }

  /**
   * Returns the operation with the bundler's gas limits and unchanged fees.
   * @param {UserOp} operation
   * @returns {Promise<UserOp>}
   */
  async estimated(operation) {
    const given = await this.#ask("eth_estimateUserOperationGas", [placeholder(operation), this.#entryPoint]);
    const estimated = merged(operation, given, ESTIMATES);
    if (!isByName(operation)) return estimated;
    const verificationGasLimit = `0x${(BigInt(estimated.verificationGasLimit) + marginOf(operation)).toString(16)}`;
    return { ...estimated, verificationGasLimit };
  }

  /**
   * Sends the signed operation to the bundler without retrying.
   * @param {UserOp} operation @param {string} hash the hash that the enclave signed
   * @throws {OperationFailed} it is refused. After a NetworkError it may have arrived nevertheless
   */
  async send(operation, hash) {
    const answer = await this.#ask("eth_sendUserOperation", [operation, this.#entryPoint]);
    if (digitsOf(answer) !== hash.slice(2)) throw new NetworkError("the bundler's operation hash differs from ours");
  }

  /**
   * Waits for the receipt.
   * @param {string} hash @param {number} [within] milliseconds
   * @returns {Promise<Receipt>}
   * @throws {OperationFailed} the operation was mined and failed, or there was no receipt in time
   */
  async wait(hash, within = RECEIPT_WITHIN_MS) {
    const end = performance.now() + within;
    const late = new OperationFailed(`no receipt of the operation within ${within / 1000} s`);
    const ended = rejected(AbortSignal.timeout(within), late); // the bundler may not answer at all
    for (let looks = 1; ; looks += 1) {
      const found = await Promise.race([this.receipt(hash), ended]);
      if (found) return found;
      const pause = looks < SOON_LOOKS ? SOON_MS : SLOWEST_LOOK_MS;
      if (performance.now() + pause > end) throw late;
      await sleep(pause);
    }
  }

  /**
   * @param {string} hash
   * @returns {Promise<Receipt | null>} null until the operation is mined
   * @throws {OperationFailed} it was mined and failed
   */
  async receipt(hash) {
    const answer = await this.#client.bundler("eth_getUserOperationReceipt", [hash], this.#chainId);
    if (answer === null) return null;
    if (digitsOf(answer?.userOpHash) !== hash.slice(2).toLowerCase())
      throw new NetworkError("the response is another operation's receipt");
    const { transactionHash, blockNumber } = answer.receipt ?? {};
    digitsOf(transactionHash, 32);
    const block = Number(quantity(blockNumber));
    if (answer.success !== true) {
      const why = answer.reason ? `: ${printable(String(answer.reason).slice(0, LONGEST_REASON))}` : "";
      throw Object.assign(new OperationFailed(`the operation was mined and failed${why}`), {
        reverted: true,
      });
    }
    return { transactionHash, blockNumber: block };
  }

  /** @param {string} method @param {unknown[]} params */
  async #ask(method, params) {
    try {
      return await this.#client.bundler(method, params, this.#chainId);
    } catch (cause) {
      if (cause instanceof RpcError)
        throw new OperationFailed(cause.message.replace(/^Network: /, "refused: "), { cause });
      throw cause;
    }
  }
}

/** @param {AbortSignal} signal @param {Error} error @returns {Promise<never>} rejects once the signal says so */
function rejected(signal, error) {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(error)));
}

/** Whether an operation has a signature by name, or the placeholder of one. @param {UserOp} operation */
export function isByName({ signature }) {
  return signature !== "0x";
}

/** Whether the signature names two owners, or is the placeholder of one that does. @param {UserOp} operation */
export function isByTwo({ signature }) {
  return signature.startsWith(`0x${"2".padStart(64, "0")}`);
}

/** @param {UserOp} operation */
function marginOf(operation) {
  return isByTwo(operation) ? TWO_NAMES_MARGIN : BY_NAME_MARGIN;
}

/** @param {UserOp} operation */
function placeholder(operation) {
  return isByName(operation) ? operation : { ...operation, signature: PLACEHOLDER_SIGNATURE };
}

/**
 * Copies only the named fields of a response into the operation.
 * @param {UserOp} operation @param {any} given @param {string[]} names
 * @returns {UserOp}
 */
function merged(operation, given, names) {
  const chosen = names.map((name) => [name, given?.[name] ?? null]).filter(([, value]) => value !== null);
  if (Object(given) !== given || Array.isArray(given) || !chosen.every(isField))
    throw new NetworkError("the bundler's response has an unexpected form");
  return { ...operation, ...Object.fromEntries(chosen) };
}

/** Whether the operation can have this field of a response. @param {any[]} field its name and its value */
function isField([name, value]) {
  if (name === "paymaster") return isAddress(value);
  if (name === "paymasterData") return isData(value);
  return typeof value === "string" && QUANTITY.test(value) && BigInt(value) >> (BITS[name] ?? 128n) === 0n;
}
