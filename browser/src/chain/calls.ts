/** Encodes calls to the few contract functions that payments need (Solidity ABI). */

import { WORD, address, bytes, number, tuple } from "./abi.ts";
import { NATIVE } from "./native.ts";

const EXECUTE = "b61d27f6"; // execute(address,uint256,bytes)
const TRANSFER = "a9059cbb"; // transfer(address,uint256)
const BALANCE_OF = "70a08231"; // balanceOf(address)
const CREATE_ACCOUNT = "4c1ed7f5"; // createAccount(uint256,uint256,uint256)
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** `data`: 0x-hex */
export type Call = { to: string; value?: bigint; data: string };

/** `token`: an ERC-20 address, or "native" */
export type Payment = { to: string; amount: bigint; token: string };

export function isAddress(text: unknown): text is `0x${string}` {
  return typeof text === "string" && ADDRESS.test(text);
}

/**
 * Encodes a call as call data for the account.
 *
 * @returns call data of an operation, 0x-hex
 */
export function execute({ to, value = 0n, data }: Call): string {
  return `0x${EXECUTE}${tuple(address(to), number(value), bytes(data))}`;
}

/**
 * Encodes a payment as call data for the account.
 *
 * @returns call data of an operation, 0x-hex
 */
export function paymentCall({ to, amount, token }: Payment): string {
  if (token === NATIVE) return execute({ to, value: amount, data: "0x" });
  return execute({ to: token, value: 0n, data: `0x${TRANSFER}${address(to)}${number(amount)}` });
}

/**
 * Returns the payment that the call data encodes. A page must show the payment as decoded from the bytes to be signed.
 *
 * @returns null if it is not a single payment in canonical form
 */
export function paymentOf(callData: string): Payment | null {
  const digits = callData.toLowerCase().replace(/^0x/, "");
  if (!digits.startsWith(EXECUTE)) return null;
  const word = (at: number) => digits.slice(8 + at * WORD, 8 + (at + 1) * WORD);
  const length = Number(BigInt(`0x${word(3) || 0}`)) * 2;
  const data = digits.slice(8 + 4 * WORD, 8 + 4 * WORD + length);
  const found = data.startsWith(TRANSFER)
    ? {
        to: `0x${data.slice(8 + 24, 8 + WORD)}`,
        amount: BigInt(`0x${data.slice(8 + WORD) || 0}`),
        token: `0x${word(0).slice(24)}`,
      }
    : { to: `0x${word(0).slice(24)}`, amount: BigInt(`0x${word(1) || 0}`), token: NATIVE };
  const isWhole = isAddress(found.to) && (found.token === NATIVE || isAddress(found.token));
  return isWhole && found.amount < 2n ** 256n && paymentCall(found) === `0x${digits}` ? found : null;
}

/**
 * Returns the call data with which an account's first operation makes the factory deploy the account.
 *
 * @returns 0x-hex
 */
export function createAccount(x: bigint, y: bigint): string {
  return `0x${CREATE_ACCOUNT}${number(x)}${number(y)}${number(0n)}`;
}

/**
 * Returns the call data that queries an account's balance of a token.
 *
 * @returns 0x-hex
 */
export function balanceOf(account: string): string {
  return `0x${BALANCE_OF}${address(account)}`;
}
