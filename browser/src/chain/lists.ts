/** Lists and structs in the Solidity ABI, written and read as hex digits, which positions count. */

import { number, type Part, tuple, WORD } from "./abi.ts";

export function list(parts: Part[]): Part {
  return { rest: number(parts.length) + tuple(...parts) };
}

/** @param parts the fields of a struct that contains dynamic ones */
export function struct(...parts: Part[]): Part {
  return { rest: tuple(...parts) };
}

/** @throws {RangeError} the data has fewer digits */
export function digitsAt(digits: string, at: number, length: number) {
  const found = digits.slice(at, at + length);
  if (found.length < length) throw new RangeError("the data ends too early");
  return found;
}

/** @throws {RangeError} there is no whole word */
export function numberAt(digits: string, at: number) {
  return BigInt(`0x${digitsAt(digits, at, WORD)}`);
}

/** @param base of the tuple @param at of its field */
export function restAt(digits: string, base: number, at: number): number {
  return base + 2 * Number(numberAt(digits, at));
}

/** @returns 0x-hex */
export function bytesAt(digits: string, at: number): string {
  return `0x${digitsAt(digits, at + WORD, 2 * Number(numberAt(digits, at)))}`;
}

/** Reads a list of dynamic values. */
export function listAt<T>(digits: string, at: number, read: (at: number) => T): T[] {
  const [length, base] = [Number(numberAt(digits, at)), at + WORD];
  if (base + length * WORD > digits.length) throw new RangeError("the data ends too early");
  return Array.from({ length }, (_, index) => read(restAt(digits, base, base + index * WORD)));
}
