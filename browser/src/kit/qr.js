/** Draws QR codes as SVG. Bundled with its npm package, and loaded when a code is first shown. */

import { encode } from "uqr";

const SPACE = "http://www.w3.org/2000/svg";

/**
 * @param {string} words at most 2953 bytes of UTF-8
 * @param {string} label
 * @param {boolean} large as wide as the page, for codes with many modules
 * @returns {SVGElement}
 */
export function drawn(words, label, large) {
  const rows = modules(words);
  const svg = made("svg", {
    class: large ? "qr large" : "qr",
    viewBox: `0 0 ${rows.length} ${rows.length}`,
    role: "img",
    "aria-label": label,
  });
  const squares = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : "")));
  svg.append(made("path", { d: squares.join(""), fill: "#000" }));
  return svg;
}

/**
 * Returns the modules of a QR code with its quiet zone; true means dark. Errors are corrected as well as its size allows.
 *
 * @param {string} words
 * @returns {boolean[][]}
 */
export function modules(words) {
  return encode(words, { ecc: "L", boostEcc: true, border: 4 }).data;
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 */
function made(tag, attributes) {
  const node = /** @type {SVGElement} */ (document.createElementNS(SPACE, tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}
