/** Writes the few forms of the Solidity ABI that payments need, as hex digits. */

export const WORD = 64;

/** @typedef {string | {rest: string}} Part the digits of a static value, or those of a dynamic one (`rest`) */

/** @param {bigint | number} value */
export function number(value) {
  return value.toString(16).padStart(WORD, "0");
}

/** @param {string} text 0x-hex */
export function address(text) {
  return text.slice(2).toLowerCase().padStart(WORD, "0");
}

/** @param {string} hex 0x-hex @returns {Part} */
export function bytes(hex) {
  const digits = hex.slice(2).toLowerCase();
  const padded = digits.padEnd(Math.ceil(digits.length / WORD) * WORD, "0");
  return { rest: number(digits.length / 2) + padded };
}

/** @param {...Part} parts the arguments of a function @returns {string} digits */
export function tuple(...parts) {
  let [heads, rests] = ["", ""];
  for (const part of parts) {
    heads += typeof part === "string" ? part : number(parts.length * 32 + rests.length / 2);
    rests += typeof part === "string" ? "" : part.rest;
  }
  return heads + rests;
}
