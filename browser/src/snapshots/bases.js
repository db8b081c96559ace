/**
 * Encodes bytes in multibase's bases: base32 (RFC 4648, lower case, no padding), base36 and base58 (Bitcoin's
 * alphabet).
 */

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
export const BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz";
export const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function toBase32(bytes) {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
  }
  return bits ? text + BASE32[(held << (5 - bits)) & 31] : text;
}

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer> | null} null for other letters; leftover bits are ignored
 */
export function fromBase32(text) {
  const bytes = [];
  let bits = 0;
  let held = 0;
  for (const letter of text) {
    const value = BASE32.indexOf(letter);
    if (value < 0) return null;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) bytes.push((held >> (bits -= 8)) & 255);
  }
  return Uint8Array.from(bytes);
}

/**
 * Writes the bytes as one number in a different base. Each leading zero byte becomes the alphabet's first letter.
 *
 * @param {Uint8Array} bytes
 * @param {string} letters
 */
export function toBase(bytes, letters) {
  const base = BigInt(letters.length);
  let number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  let text = "";
  for (; number > 0n; number /= base) text = letters[Number(number % base)] + text;
  return letters[0].repeat(zeros(bytes)) + text;
}

/**
 * @param {string} text
 * @param {string} letters
 * @returns {Uint8Array<ArrayBuffer> | null} null for other letters
 */
export function fromBase(text, letters) {
  const base = BigInt(letters.length);
  let number = 0n;
  for (const letter of text) {
    const value = letters.indexOf(letter);
    if (value < 0) return null;
    number = number * base + BigInt(value);
  }
  const bytes = [];
  for (; number > 0n; number >>= 8n) bytes.unshift(Number(number & 255n));
  const first = [...text].findIndex((letter) => letter !== letters[0]);
  return Uint8Array.from([...Array(first < 0 ? text.length : first).fill(0), ...bytes]);
}

/** @param {Uint8Array} bytes */
function zeros(bytes) {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? bytes.length : first;
}
