/** Draws QR codes as SVG. Bundled with its npm package, and loaded when a code is first shown. */

import { encode } from "uqr";

const SPACE = "http://www.w3.org/2000/svg";

/**
 * @param words at most 2953 bytes of UTF-8
 * @param large as wide as the page, for codes with many modules
 */
export function drawn(words: string, label: string, large: boolean): SVGElement {
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
 * Returns the modules of a QR code with its quiet zone; true means dark. Errors are corrected as well as its size
 * allows.
 */
export function modules(words: string): boolean[][] {
  return encode(words, { ecc: "L", boostEcc: true, border: 4 }).data;
}

function made(tag: string, attributes: Record<string, string>) {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}
