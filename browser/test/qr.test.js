/** Another library reads the codes that the pages draw. */

import assert from "node:assert/strict";
import { test } from "node:test";

import decodeQR from "qr/decode.js";

import { modules } from "../src/kit/qr.ts";

const SCALE = 4;

/** Draws a code as a camera would see it, four pixels for each module. */
function picture(rows) {
  const size = rows.length * SCALE;
  const data = new Uint8Array(size * size * 4).fill(255);
  rows.forEach((row, y) =>
    row.forEach((dark, x) => {
      for (let at = 0; dark && at < SCALE * SCALE; at += 1) {
        const pixel = (y * SCALE + Math.floor(at / SCALE)) * size + x * SCALE + (at % SCALE);
        data.fill(0, pixel * 4, pixel * 4 + 3);
      }
    }),
  );
  return { width: size, height: size, data };
}

const text = (length) => Array.from({ length }, (_, at) => String.fromCharCode(33 + ((7 * at) % 94))).join("");

for (const words of [
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "https://vault.example/vault#give=/ip4/127.0.0.1/tcp/4001/ws/p2p/12D3KooW",
  "did:web:bücher.example 🔑",
  ...[1, 100, 500, 1500, 2953].map(text),
])
  test(`a code of ${words.length} characters is read as what it says`, () => {
    assert.equal(decodeQR(picture(modules(words))), words);
  });

test("a text that no code holds is refused", () => {
  assert.throws(() => modules(text(2954)), RangeError);
});
