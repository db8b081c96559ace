/**
 * Encodes bytes in multibase's bases: base32 (RFC 4648, lower case, no padding), base36 and base58 (Bitcoin's
 * alphabet).
 */

const LETTERS: Record<string, string> = {
  b: "abcdefghijklmnopqrstuvwxyz234567",
  k: "0123456789abcdefghijklmnopqrstuvwxyz",
  z: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
};
/** Of a digit in base32. */
const BITS = 5;

/** @param base the letter in `LETTERS` with which the text begins */
export function toMultibase(base: string, bytes: Uint8Array): string {
  const letters = LETTERS[base];
  const number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  if (base === "b") {
    const length = Math.ceil((bytes.length * 8) / BITS);
    return base + digitsOf(number << BigInt(length * BITS - bytes.length * 8), letters).padStart(length, letters[0]);
  }
  // One number; each leading zero byte becomes the alphabet's first letter.
  const first = bytes.findIndex((byte) => byte !== 0);
  return base + letters[0].repeat(first < 0 ? bytes.length : first) + digitsOf(number, letters);
}

/** @returns null for another base or other letters; leftover bits are ignored */
export function fromMultibase(text: string): Uint8Array<ArrayBuffer> | null {
  const letters = LETTERS[text[0]] ?? "";
  const values = [...text.slice(1)].map((letter) => letters.indexOf(letter));
  if (!letters || values.includes(-1)) return null;
  const number = values.reduce((sum, value) => sum * BigInt(letters.length) + BigInt(value), 0n);
  if (text[0] === "b") {
    const spare = (values.length * BITS) % 8;
    return bytesFrom(number >> BigInt(spare), (values.length * BITS - spare) / 8);
  }
  const first = values.findIndex((value) => value !== 0);
  const length = number && Math.ceil(number.toString(16).length / 2);
  return bytesFrom(number, (first < 0 ? values.length : first) + Number(length));
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
