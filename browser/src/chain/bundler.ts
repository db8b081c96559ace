/** Gets user operations onto the chain through the service's bundler, which sponsors them or estimates their gas. */

import type { UserOp } from "../generated/types.ts";
import { RpcError } from "../http/json_rpc.ts";
import { NetworkError, printable } from "../errors.ts";
import { BY_NAME, WEBAUTHN } from "../generated/gas.ts";
import { RECEIPT_WITHIN_MS } from "../generated/operation_retries.ts";
import type { ServiceClient } from "../http/service.ts";
import { hex } from "./abi.ts";
import { isAddress } from "./calls.ts";
import { OperationFailed } from "./errors.ts";
import { isSponsored } from "./fees.ts";
import { digitsOf, isData, quantity, sleep } from "./rpc.ts";
import type { Foreign, Members } from "../http/http.ts";

const ESTIMATES = ["callGasLimit", "verificationGasLimit", "preVerificationGas"];
/** Sizes of the numbers in the packed form of an operation (ERC-4337); the others have 128 bits. */
const BITS: Record<string, bigint | undefined> = { preVerificationGas: 256n };
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
/** An unsigned operation of a deployed account, without gas and fees. */
export const EMPTY_OPERATION: Omit<UserOp, "sender" | "nonce" | "callData"> = {
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
/**
 * The first interval between requests for a receipt. The interval is short because fast chains take only seconds and a
 * person is waiting.
 */
const SOON_MS = 150;
const SOON_LOOKS = 20;
const SLOWEST_LOOK_MS = 1000;

export type Receipt = { transactionHash: string; blockNumber: number };

/** A service's bundler, used for one entry point. */
export class Bundler {
  #client;
  #entryPoint;
  #chainId;

  /** @param chainId null: the service's main chain */
  constructor(client: Pick<ServiceClient, "bundler">, entryPoint: string, chainId: number | null = null) {
    this.#client = client;
    this.#entryPoint = entryPoint;
    this.#chainId = chainId;
  }

  /**
   * Returns the operation with the sponsor's fields and gas limits.
   * @throws {OperationFailed} the sponsor refuses, or its response has no paymaster
   */
  async sponsored(operation: UserOp): Promise<UserOp> {
    const margin = isByName(operation) ? [{ verificationGasMargin: hex(marginOf(operation)) }] : [];
    const given = await this.#ask("pm_sponsorUserOperation", [placeholder(operation), this.#entryPoint, ...margin]);
    const sponsored = merged(operation, given, SPONSORS);
    // Without a paymaster, the account itself would pay for an operation that its owner believes to be sponsored.
    if (!isSponsored(sponsored)) throw new OperationFailed("the sponsor named no paymaster");
    return sponsored;
  }

  /** Returns the operation with the bundler's gas limits and unchanged fees. */
  async estimated(operation: UserOp): Promise<UserOp> {
    const given = await this.#ask("eth_estimateUserOperationGas", [placeholder(operation), this.#entryPoint]);
    const estimated = merged(operation, given, ESTIMATES);
    if (!isByName(operation)) return estimated;
    const verificationGasLimit = hex(BigInt(estimated.verificationGasLimit) + marginOf(operation));
    return { ...estimated, verificationGasLimit };
  }

  /**
   * Sends the signed operation to the bundler without retrying.
   * @param hash the hash that the enclave signed
   * @throws {OperationFailed} it is refused. After a NetworkError it may have arrived nevertheless
   */
  async send(operation: UserOp, hash: string) {
    const answer = await this.#ask("eth_sendUserOperation", [operation, this.#entryPoint]);
    if (digitsOf(answer) !== hash.slice(2)) throw new NetworkError("the bundler's operation hash differs from ours");
  }

  /**
   * Waits for the receipt.
   * @param within milliseconds
   * @throws {OperationFailed} the operation was mined and failed, or there was no receipt in time
   */
  async wait(hash: string, within: number = RECEIPT_WITHIN_MS): Promise<Receipt> {
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
   * @returns null until the operation is mined
   * @throws {OperationFailed} it was mined and failed
   */
  async receipt(hash: string): Promise<Receipt | null> {
    const answer = (await this.#client.bundler("eth_getUserOperationReceipt", [hash], this.#chainId)) as Members | null;
    if (answer === null) return null;
    if (digitsOf(answer?.userOpHash) !== hash.slice(2).toLowerCase())
      throw new NetworkError("the response is another operation's receipt");
    const { transactionHash, blockNumber } = (answer.receipt as Foreign) ?? {};
    digitsOf(transactionHash, 32);
    const block = Number(quantity(blockNumber));
    if (answer.success !== true) {
      const why = answer.reason ? `: ${printable(String(answer.reason).slice(0, LONGEST_REASON))}` : "";
      throw Object.assign(new OperationFailed(`the operation was mined and failed${why}`), {
        reverted: true,
      });
    }
    return { transactionHash: transactionHash as string, blockNumber: block };
  }

  async #ask(method: string, params: unknown[]) {
    try {
      return await this.#client.bundler(method, params, this.#chainId);
    } catch (cause) {
      if (cause instanceof RpcError)
        throw new OperationFailed(cause.message.replace(/^Network: /, "refused: "), { cause });
      throw cause;
    }
  }
}

/** @returns rejects once the signal says so */
function rejected(signal: AbortSignal, error: Error): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(error)));
}

/** Whether an operation has a signature by name, or the placeholder of one. */
export function isByName({ signature }: UserOp) {
  return signature !== "0x";
}

/** Whether the signature names two owners, or is the placeholder of one that does. */
export function isByTwo({ signature }: UserOp) {
  return signature.startsWith(`0x${"2".padStart(64, "0")}`);
}

function marginOf(operation: UserOp) {
  return isByTwo(operation) ? 2n * BY_NAME + WEBAUTHN : BY_NAME;
}

function placeholder(operation: UserOp) {
  return isByName(operation) ? operation : { ...operation, signature: PLACEHOLDER_SIGNATURE };
}

/** Copies only the named fields of a response into the operation. */
function merged(operation: UserOp, given: unknown, names: string[]): UserOp {
  const chosen = names
    .map((name) => [name, (given as Foreign)?.[name] ?? null] as [string, unknown])
    .filter(([, value]) => value !== null);
  if (Object(given) !== given || Array.isArray(given) || !chosen.every(isField))
    throw new NetworkError("the bundler's response has an unexpected form");
  return { ...operation, ...Object.fromEntries(chosen) };
}

/** Whether the operation can have this field of a response. @param field its name and its value */
function isField([name, value]: [string, unknown]) {
  if (name === "paymaster") return isAddress(value);
  if (name === "paymasterData") return isData(value);
  return typeof value === "string" && QUANTITY.test(value) && BigInt(value) >> (BITS[name] ?? 128n) === 0n;
}
