/** The codewords of a QR code: the text's bytes with padding, and Reed-Solomon codes over GF(256). */

/** Per version, error correction M: codewords of data in a block, blocks, codewords of correction in a block. */
const CAPACITY = [[16, 1, 10], [28, 1, 16], [44, 1, 26], [32, 2, 18], [43, 2, 24], [27, 4, 16]];
const BYTE_MODE = 0b0100;

/**
 * @param {Uint8Array} bytes
 * @returns {{version: number, codewords: number[]}}
 */
export function blocksOf(bytes) {
  const at = CAPACITY.findIndex(([data, blocks]) => bytes.length + 2 <= data * blocks);
  if (at < 0) throw new RangeError("the text is too long for this QR code");
  const [data, blocks, correction] = CAPACITY[at];
  const words = padded(bytes, data * blocks);
  const parts = Array.from({ length: blocks }, (_, block) => words.slice(block * data, (block + 1) * data));
  const codes = parts.map((part) => remainder(part, correction));
  return { version: at + 1, codewords: [...interleaved(parts), ...interleaved(codes)] };
}

/**
 * Mode, length, bytes, end, padding.
 *
 * @param {Uint8Array} bytes
 * @param {number} total
 */
function padded(bytes, total) {
  const nibbles = [BYTE_MODE, bytes.length >> 4, bytes.length & 15, ...[...bytes].flatMap((byte) => [byte >> 4, byte & 15]), 0];
  const words = Array.from({ length: nibbles.length / 2 }, (_, at) => (nibbles[2 * at] << 4) | nibbles[2 * at + 1]);
  for (let pad = 0xec; words.length < total; pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

/** @param {number[][]} parts of one length */
function interleaved(parts) {
  return parts[0].flatMap((_, at) => parts.map((part) => part[at]));
}

/** @param {number} x @param {number} y */
function times(x, y) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    if ((y >> bit) & 1) product ^= x;
  }
  return product;
}

/**
 * @param {number[]} data
 * @param {number} degree
 */
function remainder(data, degree) {
  const divisor = generator(degree);
  const rest = Array(degree).fill(0);
  for (const word of data) {
    const factor = word ^ rest[0];
    rest.shift();
    rest.push(0);
    divisor.forEach((value, at) => (rest[at] ^= times(value, factor)));
  }
  return rest;
}

/** @param {number} degree @returns {number[]} without the leading one */
function generator(degree) {
  const result = Array(degree).fill(0);
  result[degree - 1] = 1;
  let root = 1;
  for (let step = 0; step < degree; step += 1) {
    for (let at = 0; at < degree; at += 1) {
      result[at] = times(result[at], root) ^ (result[at + 1] ?? 0);
    }
    root = times(root, 2);
  }
  return result;
}
