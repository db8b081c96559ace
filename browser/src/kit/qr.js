/**
 * QR codes as SVG (ISO/IEC 18004: byte mode, versions 1 to 40). A test compares the codes with those from a different
 * encoder.
 */

import { alignments, blocksOf } from "./qr_codewords.js";

const SPACE = "http://www.w3.org/2000/svg";
const QUIET = 4;
/** The bits that encode the error correction levels in the format information. */
const LEVELS = { L: 1, M: 0 };

/**
 * @typedef {(boolean | null)[][]} Modules null: not set yet
 * @typedef {import("./qr_codewords.js").Level} Level
 */

/**
 * @param {string} words at most 2953 bytes of UTF-8
 * @param {string} label
 * @param {boolean} [large] as wide as the page, for codes with many modules
 * @returns {SVGElement}
 */
export function qrCode(words, label, large = false) {
  const modules = qrModules(words);
  const size = modules.length + 2 * QUIET;
  const svg = document.createElementNS(SPACE, "svg");
  svg.setAttribute("class", large ? "qr large" : "qr");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const path = document.createElementNS(SPACE, "path");
  path.setAttribute(
    "d",
    modules.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : ""))).join(""),
  );
  path.setAttribute("fill", "#000");
  svg.append(path);
  return svg;
}

/**
 * Returns the modules of a QR code, in which true means dark.
 *
 * @param {string} words
 * @returns {boolean[][]}
 */
export function qrModules(words) {
  const { version, level, codewords } = blocksOf(new TextEncoder().encode(words));
  const plain = skeleton(version);
  const drawn = MASKS.map((_, mask) => masked(plain, codewords, level, mask));
  return drawn.reduce((best, next) => (penalty(next) < penalty(best) ? next : best));
}

/**
 * Draws everything that does not depend on the data, and reserves the modules of the format information.
 *
 * @param {number} version
 * @returns {Modules}
 */
function skeleton(version) {
  const size = 17 + 4 * version;
  /** @type {Modules} */
  const grid = Array.from({ length: size }, () => Array(size).fill(null));
  for (let at = 0; at < size; at += 1) grid[6][at] = grid[at][6] = at % 2 === 0;
  for (const [top, left] of [
    [0, 0],
    [0, size - 7],
    [size - 7, 0],
  ])
    finder(grid, top, left);
  const middles = alignments(version);
  const last = middles.length - 1;
  middles.forEach((y, row) =>
    middles.forEach((x, column) => {
      const isFinder = (row === 0 && (column === 0 || column === last)) || (row === last && column === 0);
      if (!isFinder) alignment(grid, y, x);
    }),
  );
  drawFormat(grid, "M", 0);
  if (version >= 7) drawVersion(grid, version);
  return grid;
}

/** @param {Modules} grid @param {number} top @param {number} left */
function finder(grid, top, left) {
  for (let y = -1; y <= 7; y += 1) {
    for (let x = -1; x <= 7; x += 1) {
      const ring = Math.max(Math.abs(y - 3), Math.abs(x - 3));
      if (grid[top + y]?.[left + x] !== undefined) grid[top + y][left + x] = ring !== 2 && ring !== 4;
    }
  }
}

/** @param {Modules} grid @param {number} middle its middle row @param {number} across */
function alignment(grid, middle, across) {
  for (let y = -2; y <= 2; y += 1) {
    for (let x = -2; x <= 2; x += 1) grid[middle + y][across + x] = Math.max(Math.abs(y), Math.abs(x)) !== 1;
  }
}

/**
 * Draws both copies of the eighteen version bits (the version's Golay code).
 *
 * @param {Modules} grid
 * @param {number} version
 */
function drawVersion(grid, version) {
  const size = grid.length;
  let rest = version;
  for (let step = 0; step < 12; step += 1) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let at = 0; at < 18; at += 1) {
    const [far, near] = [size - 11 + (at % 3), Math.floor(at / 3)];
    grid[near][far] = grid[far][near] = ((bits >> at) & 1) === 1;
  }
}

/**
 * Draws both copies of the fifteen format bits (the BCH code of the level and the mask).
 *
 * @param {Modules} grid
 * @param {Level} level
 * @param {number} mask
 */
function drawFormat(grid, level, mask) {
  const size = grid.length;
  const data = (LEVELS[level] << 3) | mask;
  let rest = data;
  for (let step = 0; step < 10; step += 1) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
  const bits = ((data << 10) | rest) ^ 0x5412;
  const bit = (/** @type {number} */ at) => ((bits >> at) & 1) === 1;
  for (let at = 0; at < 6; at += 1) grid[at][8] = bit(at);
  grid[7][8] = bit(6);
  grid[8][8] = bit(7);
  grid[8][7] = bit(8);
  for (let at = 9; at < 15; at += 1) grid[8][14 - at] = bit(at);
  for (let at = 0; at < 8; at += 1) grid[8][size - 1 - at] = bit(at);
  for (let at = 8; at < 15; at += 1) grid[size - 15 + at][8] = bit(at);
  grid[size - 8][8] = true;
}

/** @type {((x: number, y: number) => boolean)[]} */
const MASKS = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/**
 * Places the data in zigzag order from the lower right corner, with a mask applied.
 *
 * @param {Modules} plain
 * @param {number[]} codewords
 * @param {Level} level
 * @param {number} mask
 * @returns {boolean[][]}
 */
function masked(plain, codewords, level, mask) {
  const grid = plain.map((row) => [...row]);
  const size = grid.length;
  let at = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const upward = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step += 1) {
      const y = upward ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (plain[y][x] !== null) continue;
        const dark = (((codewords[at >> 3] ?? 0) >> (7 - (at & 7))) & 1) === 1;
        grid[y][x] = dark !== MASKS[mask](x, y);
        at += 1;
      }
    }
  }
  drawFormat(grid, level, mask);
  return /** @type {boolean[][]} */ (grid);
}

/**
 * Returns the penalty for patterns that are hard to scan: runs, squares, finder-like patterns, and too much of one
 * colour.
 * @param {boolean[][]} grid
 */
function penalty(grid) {
  const size = grid.length;
  const columns = grid.map((_, x) => grid.map((row) => row[x]));
  let points = 0;
  for (const line of [...grid, ...columns]) {
    const words = line.map((dark) => (dark ? "1" : "0")).join("");
    for (const run of words.match(/0{5,}|1{5,}/g) ?? []) points += run.length - 2;
    points += 40 * [...words.matchAll(/(?=00001011101|10111010000)/g)].length;
  }
  for (let y = 1; y < size; y += 1) {
    for (let x = 1; x < size; x += 1) {
      if (grid[y][x] === grid[y - 1][x] && grid[y][x] === grid[y][x - 1] && grid[y][x] === grid[y - 1][x - 1])
        points += 3;
    }
  }
  const dark = grid.flat().filter(Boolean).length;
  return points + 10 * Math.floor(Math.abs((dark * 20) / (size * size) - 10));
}
