/**
 * Encodes bytes in multibase's bases: base32 (RFC 4648, lower case, no padding), base36 and base58 (Bitcoin's
 * alphabet).
 */

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
export const BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz";
export const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

export function toBase32(bytes: Uint8Array): string {
  const length = Math.ceil((bytes.length * 8) / 5);
  const spare = BigInt(length * 5 - bytes.length * 8);
  return digitsOf(numberOf(bytes) << spare, BASE32).padStart(length, BASE32[0]);
}

/** @returns null for other letters; leftover bits are ignored */
export function fromBase32(text: string): Uint8Array<ArrayBuffer> | null {
  const number = parsed(text, BASE32);
  const spare = (text.length * 5) % 8;
  return number === null ? null : bytesFrom(number >> BigInt(spare), (text.length * 5 - spare) / 8);
}

/** Writes the bytes as one number in a different base. Each leading zero byte becomes the alphabet's first letter. */
export function toBase(bytes: Uint8Array, letters: string) {
  const first = bytes.findIndex((byte) => byte !== 0);
  return letters[0].repeat(first < 0 ? bytes.length : first) + digitsOf(numberOf(bytes), letters);
}

/** @returns null for other letters */
export function fromBase(text: string, letters: string): Uint8Array<ArrayBuffer> | null {
  const number = parsed(text, letters);
  if (number === null) return null;
  const first = [...text].findIndex((letter) => letter !== letters[0]);
  const length = number && Math.ceil(number.toString(16).length / 2);
  return bytesFrom(number, (first < 0 ? text.length : first) + Number(length));
}

function numberOf(bytes: Uint8Array) {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function bytesFrom(number: bigint, length: number) {
  const bytes = new Uint8Array(length);
  for (let at = length - 1; at >= 0; at -= 1, number >>= 8n) bytes[at] = Number(number & 255n);
  return bytes;
}

function digitsOf(number: bigint, letters: string) {
  const base = BigInt(letters.length);
  let text = "";
  for (; number > 0n; number /= base) text = letters[Number(number % base)] + text;
  return text;
}

function parsed(text: string, letters: string) {
  const values = [...text].map((letter) => letters.indexOf(letter));
  return values.includes(-1) ? null : values.reduce((sum, value) => sum * BigInt(letters.length) + BigInt(value), 0n);
}
