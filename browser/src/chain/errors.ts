/** Errors of user operations. */

import { ServiceError } from "../errors.ts";
import { NO_MONEY, STALE } from "../generated/operation_retries.ts";
import { NATIVE } from "./native.ts";
import type { Foreign } from "../http/http.ts";

// A selector and whole words, as Solidity encodes errors, so an address at the end of a message is not taken for one.
const REVERT_DATA = /0x([0-9a-f]{8}(?:[0-9a-f]{64})*)$/;

/** The operation was refused, or was mined and failed. */
export class OperationFailed extends ServiceError {
  /** Whether it was mined and reverted, so that its nonce is used. */
  reverted = false;
  /**
   * What became of an earlier operation, because of which nothing was signed now: "mined" if it made the same call,
   * "unknown" if its nonce is used without a receipt.
   */
  earlier: "" | "mined" | "unknown" = "";
  /** The registry's error for which nothing was sent, such as "AliasTaken"; otherwise empty. */
  reason = "";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "OperationFailed";
  }
}

/**
 * The account's balance is too low for the payment, or for a fee that no sponsor pays. Amounts are in the smallest unit
 * of `token`.
 */
export class AccountNotFunded extends OperationFailed {
  declare address: string;
  declare balance: bigint;
  declare needed: bigint;
  declare token: string;

  /** @param account `token`: "native", or an ERC-20 address */
  constructor(
    message: string,
    { address, balance, needed, token = NATIVE }: { address: string; balance: bigint; needed: bigint; token?: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "AccountNotFunded";
    this.address = address;
    this.balance = balance;
    this.needed = needed;
    this.token = token;
  }
}

/** Two owners must sign, and no second key was given, or one that is not an owner. Nothing was signed. */
export class SecondKeyMissing extends OperationFailed {
  declare keys: string[];

  /** @param keys the signers of which one must sign too, 0x-hex */
  constructor(account: string, keys: string[]) {
    const named = keys.join(" or ") || "none, because the account shows no other owner";
    super(`two owners of the account ${account} must sign: the vault's key, and as the second key ${named}`);
    this.name = "SecondKeyMissing";
    this.keys = keys;
  }
}

/** No sponsor pays for the operation, and it could cost more than `GasPolicy.maxOwnCostWei`. */
export class GasTooDear extends OperationFailed {
  constructor(message: string) {
    super(message);
    this.name = "GasTooDear";
  }
}

/** The payment was refused before anything was signed. */
export class PaymentRefused extends ServiceError {
  declare code: string;

  /** @param code for programs: "payee_unregistered", "payee_unverified", "delegation" */
  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "PaymentRefused";
    this.code = code;
  }
}

/** Whether an operation was refused because the account is in another state than its nonce says. */
export function isStale(error: unknown) {
  return error instanceof OperationFailed && hasCode(error, STALE);
}

/** Whether an operation was refused because the account has less than it may cost. */
export function lacksMoney(error: unknown) {
  return error instanceof OperationFailed && hasCode(error, NO_MONEY);
}

/** Whether the message has one of ERC-4337's codes as a whole word. */
function hasCode({ message }: OperationFailed, codes: string[]) {
  return codes.some((code) => new RegExp(`\\b${code}\\b`).test(message));
}

/**
 * Returns the revert data with which an operation was refused. Bundlers put it into the error's `data`, which is a text
 * or an object that contains it, or at the end of the message.
 *
 * @returns hex digits
 */
export function revertOf({ message, cause }: OperationFailed): string | null {
  const data = (cause as Foreign)?.data as Foreign;
  const texts = [...(typeof data === "object" ? [data?.revertData, data?.reason, data?.data] : [data]), message];
  return texts.map((it) => REVERT_DATA.exec(String(it ?? ""))?.[1]).find(Boolean) ?? null;
}
