/** Lists and structs in the Solidity ABI, written and read as hex digits, which positions count. */

import { number, tuple, WORD } from "./abi.js";

/** @typedef {import("./abi.js").Part} Part */

/** @param {Part[]} parts @returns {Part} */
export function list(parts) {
  return { rest: number(parts.length) + tuple(...parts) };
}

/** @param {...Part} parts the fields of a struct that contains dynamic ones @returns {Part} */
export function struct(...parts) {
  return { rest: tuple(...parts) };
}

/**
 * @param {string} digits
 * @param {number} at
 * @param {number} length
 * @throws {RangeError} the data has fewer digits
 */
export function digitsAt(digits, at, length) {
  const found = digits.slice(at, at + length);
  if (found.length < length) throw new RangeError("the data ends too early");
  return found;
}

/** @param {string} digits @param {number} at @throws {RangeError} there is no whole word */
export function numberAt(digits, at) {
  return BigInt(`0x${digitsAt(digits, at, WORD)}`);
}

/** @param {string} digits @param {number} base of the tuple @param {number} at of its field @returns {number} */
export function restAt(digits, base, at) {
  return base + 2 * Number(numberAt(digits, at));
}

/** @param {string} digits @param {number} at @returns {string} 0x-hex */
export function bytesAt(digits, at) {
  return `0x${digitsAt(digits, at + WORD, 2 * Number(numberAt(digits, at)))}`;
}

/**
 * Reads a list of dynamic values.
 *
 * @template T
 * @param {string} digits
 * @param {number} at
 * @param {(at: number) => T} read
 * @returns {T[]}
 */
export function listAt(digits, at, read) {
  const [length, base] = [Number(numberAt(digits, at)), at + WORD];
  if (base + length * WORD > digits.length) throw new RangeError("the data ends too early");
  return Array.from({ length }, (_, index) => read(restAt(digits, base, base + index * WORD)));
}
