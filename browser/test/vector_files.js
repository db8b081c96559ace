/** Reads the vectors that both clients' tests share. */

import { readFileSync } from "node:fs";

const VECTORS = new URL("../../vectors/", import.meta.url);

/** @param {string} name below vectors/ */
export function vectors(name) {
  return JSON.parse(readFileSync(new URL(name, VECTORS), "utf8"));
}
