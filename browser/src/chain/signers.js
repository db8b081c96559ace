/** The P-256 keys that can have made a signature (SEC 1, section 4.1.6): no list of owners is needed. Nothing here is secret. */

import { toHex } from "../bytes.js";
import { ORDER } from "./assertions.js";
import { p256Signer } from "./owners.js";
import { B, PRIME } from "./p256.js";

/** @typedef {{x: bigint, y: bigint} | null} Point null: at infinity */

/** @type {Point} */
const BASE = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
};

/**
 * @param {bigint} r
 * @param {bigint} s or its negative
 * @param {Uint8Array<ArrayBuffer>} text what is signed, by ECDSA with SHA-256
 * @returns {Promise<string[]>} two signers, 0x-hex; none if no key made the signature
 */
export async function signersOf(r, s, text) {
  const square = r ** 3n - 3n * r + B;
  const y = power(square, (PRIME + 1n) / 4n, PRIME);
  if (!r || modulo(y * y - square, PRIME)) return [];
  const digest = BigInt(toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", text))));
  const inverse = power(r, ORDER - 2n, ORDER);
  const ofBase = times(modulo(-digest * inverse, ORDER), BASE);
  const found = [y, PRIME - y].map((it) => sum(times(modulo(s * inverse, ORDER), { x: r, y: it }), ofBase));
  return found.flatMap((it) => (it ? [p256Signer(it)] : []));
}

/** @param {bigint} number @param {bigint} by */
function modulo(number, by) {
  return ((number % by) + by) % by;
}

/** @param {bigint} base @param {bigint} exponent @param {bigint} by */
function power(base, exponent, by) {
  let made = 1n;
  for (let [it, left] = [modulo(base, by), exponent]; left; it = (it * it) % by, left >>= 1n)
    if (left & 1n) made = (made * it) % by;
  return made;
}

/** @param {bigint} factor @param {Point} point @returns {Point} */
function times(factor, point) {
  let made = /** @type {Point} */ (null);
  for (let [it, left] = [point, factor]; left; it = sum(it, it), left >>= 1n) if (left & 1n) made = sum(made, it);
  return made;
}

/** @param {Point} one @param {Point} other @returns {Point} */
function sum(one, other) {
  if (!one || !other) return one ?? other;
  if (one.x === other.x && one.y !== other.y) return null;
  const [rise, run] = one.x === other.x ? [3n * one.x * one.x - 3n, 2n * one.y] : [other.y - one.y, other.x - one.x];
  const slope = modulo(rise * power(run, PRIME - 2n, PRIME), PRIME);
  const x = modulo(slope * slope - one.x - other.x, PRIME);
  return { x, y: modulo(slope * (one.x - x) - one.y, PRIME) };
}
