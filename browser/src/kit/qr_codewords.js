/**
 * Encodes a text as the codewords of a QR code: padded data, and Reed-Solomon error correction over GF(256) (ISO/IEC
 * 18004).
 */

/** @typedef {"L" | "M"} Level how much may be damaged: about 7 or 15 per cent */

/**
 * Table 9: the number of correction codewords per block and the number of blocks, for each version from 1.
 *
 * @type {Record<Level, [number[], number[]]>}
 */
const CORRECTION = {
  L: [
    [
      7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30,
      30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    ],
    [
      1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19,
      19, 20, 21, 22, 24, 25,
    ],
  ],
  M: [
    [
      10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28,
      28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    ],
    [
      1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33,
      35, 37, 38, 40, 43, 45, 47, 49,
    ],
  ],
};
const VERSIONS = 40;
const BYTE_MODE = 0b0100;
/** Up to this version, the length field has 8 bits; in higher versions it has 16. */
const SHORT_LENGTH = 9;

/**
 * Returns the smallest code that fits the bytes, with the higher correction level if that does not make the code
 * larger.
 *
 * @param {Uint8Array} bytes at most 2953
 * @returns {{version: number, level: Level, codewords: number[]}}
 * @throws {RangeError} too many bytes
 */
export function blocksOf(bytes) {
  const version = versionOf(bytes.length, "L");
  const level = bytes.length <= room(version, "M") ? "M" : "L";
  const [correction, blocks] = CORRECTION[level].map((row) => row[version - 1]);
  const all = Math.floor(modulesOf(version) / 8);
  const parts = divided(padded(bytes, version, all - correction * blocks), blocks);
  const codes = parts.map((part) => remainder(part, correction));
  return { version, level, codewords: [...interleaved(parts), ...interleaved(codes)] };
}

/** @param {number} version @returns {number[]} the centres of alignment patterns, on both axes (Annex E) */
export function alignments(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const last = 4 * version + 10;
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, at) => last - (count - 2 - at) * step)];
}

/** @param {number} length @param {Level} level */
function versionOf(length, level) {
  for (let version = 1; version <= VERSIONS; version += 1) if (length <= room(version, level)) return version;
  throw new RangeError("the text is too long for a QR code: 2953 bytes at most");
}

/**
 * Returns how many bytes fit into a code of the given version and level.
 *
 * @param {number} version
 * @param {Level} level
 */
function room(version, level) {
  const [correction, blocks] = CORRECTION[level].map((row) => row[version - 1]);
  return Math.floor(modulesOf(version) / 8) - correction * blocks - (version <= SHORT_LENGTH ? 2 : 3);
}

/**
 * Returns how many modules remain for codewords after the function patterns, format bits and version bits.
 *
 * @param {number} version
 */
function modulesOf(version) {
  const side = 17 + 4 * version;
  const middles = alignments(version).length;
  const finders = 3 * 64;
  const timing = 2 * (side - 16);
  const format = 31 + (version >= 7 ? 36 : 0);
  // An alignment pattern has 25 modules, and shares five of them with a timing line if it lies on one. Finder
  // patterns take the place of three alignment patterns.
  const aligned = middles ? (middles * middles - 3) * 25 - 2 * (middles - 2) * 5 : 0;
  return side * side - finders - timing - format - aligned;
}

/**
 * Encodes the mode, the length, the bytes, the terminator and the padding.
 *
 * @param {Uint8Array} bytes
 * @param {number} version
 * @param {number} total
 */
function padded(bytes, version, total) {
  const { length } = bytes;
  const size =
    version <= SHORT_LENGTH
      ? [length >> 4, length & 15]
      : [length >> 12, (length >> 8) & 15, (length >> 4) & 15, length & 15];
  const nibbles = [BYTE_MODE, ...size, ...[...bytes].flatMap((byte) => [byte >> 4, byte & 15]), 0];
  const words = Array.from({ length: nibbles.length / 2 }, (_, at) => (nibbles[2 * at] << 4) | nibbles[2 * at + 1]);
  for (let pad = 0xec; words.length < total; pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

/**
 * Divides the codewords into blocks of equal length, except that the last blocks may have one more codeword.
 *
 * @param {number[]} words
 * @param {number} blocks
 */
function divided(words, blocks) {
  const short = Math.floor(words.length / blocks);
  const longer = blocks - (words.length % blocks);
  const start = (/** @type {number} */ block) => block * short + Math.max(0, block - longer);
  return Array.from({ length: blocks }, (_, block) => words.slice(start(block), start(block + 1)));
}

/** @param {number[][]} parts the last ones may have one codeword more */
function interleaved(parts) {
  const longest = parts[parts.length - 1];
  return longest.flatMap((_, at) => parts.filter((part) => at < part.length).map((part) => part[at]));
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

/** @param {number} degree @returns {number[]} the coefficients without the leading 1 */
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
