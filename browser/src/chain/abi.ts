/** Writes the few forms of the Solidity ABI that payments need, as hex digits. */

export const WORD = 64;

/** the digits of a static value, or those of a dynamic one (`rest`) */
export type Part = string | { rest: string };

export function number(value: bigint | number) {
  return value.toString(16).padStart(WORD, "0");
}

/** Returns a number as JSON-RPC writes it. */
export function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** @param text 0x-hex */
export function address(text: string) {
  return text.slice(2).toLowerCase().padStart(WORD, "0");
}

/** @param hex 0x-hex */
export function bytes(hex: string): Part {
  const digits = hex.slice(2).toLowerCase();
  const padded = digits.padEnd(Math.ceil(digits.length / WORD) * WORD, "0");
  return { rest: number(digits.length / 2) + padded };
}

/** @param parts the arguments of a function @returns digits */
export function tuple(...parts: Part[]): string {
  let [heads, rests] = ["", ""];
  for (const part of parts) {
    heads += typeof part === "string" ? part : number(parts.length * 32 + rests.length / 2);
    rests += typeof part === "string" ? "" : part.rest;
  }
  return heads + rests;
}
