/** Unsigned varints (multiformats): seven bits per byte, least significant first, in the shortest form. */

import { ContentError } from "./content_error.ts";

const MORE = 0x80;

/** @param number whole, not negative @returns its bytes */
export function encodeVarint(number: number): number[] {
  const bytes = [];
  for (; number >= MORE; number = Math.floor(number / MORE)) bytes.push((number % MORE) | MORE);
  return [...bytes, number];
}

/**
 * Decodes the number at `start`, and returns the number and the position after it.
 * @param longest bytes
 * @returns null if the bytes end first; a bigint above 2^53 - 1
 * @throws {ContentError} it has more than `longest` bytes, or is not in the shortest form
 */
export function decodeVarint(
  data: Uint8Array,
  start: number,
  longest: number,
): { value: number | bigint; end: number } | null {
  let value = 0n;
  const end = Math.min(data.length, start + longest);
  for (let at = start; at < end; at += 1) {
    value |= BigInt(data[at] & 0x7f) << BigInt(7 * (at - start));
    if (data[at] >= MORE) continue;
    if (data[at] === 0 && at > start)
      throw new ContentError("invalid_varint", "a varint is longer than it needs to be");
    return { value: value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value, end: at + 1 };
  }
  if (data.length - start >= longest)
    throw new ContentError("invalid_varint", `a varint takes more than ${longest} bytes`);
  return null;
}
