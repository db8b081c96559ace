/**
 * Encodes bytes in multibase's bases: base32 (RFC 4648, lower case, no padding), base36 and base58 (Bitcoin's
 * alphabet).
 */

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
export const BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz";
export const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** @param {Uint8Array} bytes @returns {string} */
export function toBase32(bytes) {
  const length = Math.ceil((bytes.length * 8) / 5);
  const spare = BigInt(length * 5 - bytes.length * 8);
  return digitsOf(numberOf(bytes) << spare, BASE32).padStart(length, BASE32[0]);
}

/** @param {string} text @returns {Uint8Array<ArrayBuffer> | null} null for other letters; leftover bits are ignored */
export function fromBase32(text) {
  const number = parsed(text, BASE32);
  const spare = (text.length * 5) % 8;
  return number === null ? null : bytesFrom(number >> BigInt(spare), (text.length * 5 - spare) / 8);
}

/**
 * Writes the bytes as one number in a different base. Each leading zero byte becomes the alphabet's first letter.
 * @param {Uint8Array} bytes @param {string} letters
 */
export function toBase(bytes, letters) {
  const first = bytes.findIndex((byte) => byte !== 0);
  return letters[0].repeat(first < 0 ? bytes.length : first) + digitsOf(numberOf(bytes), letters);
}

/** @param {string} text @param {string} letters @returns {Uint8Array<ArrayBuffer> | null} null for other letters */
export function fromBase(text, letters) {
  const number = parsed(text, letters);
  if (number === null) return null;
  const first = [...text].findIndex((letter) => letter !== letters[0]);
  const length = number && Math.ceil(number.toString(16).length / 2);
  return bytesFrom(number, (first < 0 ? text.length : first) + Number(length));
}

/** @param {Uint8Array} bytes */
function numberOf(bytes) {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

/** @param {bigint} number @param {number} length */
function bytesFrom(number, length) {
  const bytes = new Uint8Array(length);
  for (let at = length - 1; at >= 0; at -= 1, number >>= 8n) bytes[at] = Number(number & 255n);
  return bytes;
}

/** @param {bigint} number @param {string} letters */
function digitsOf(number, letters) {
  const base = BigInt(letters.length);
  let text = "";
  for (; number > 0n; number /= base) text = letters[Number(number % base)] + text;
  return text;
}

/** @param {string} text @param {string} letters */
function parsed(text, letters) {
  const values = [...text].map((letter) => letters.indexOf(letter));
  return values.includes(-1) ? null : values.reduce((sum, value) => sum * BigInt(letters.length) + BigInt(value), 0n);
}
