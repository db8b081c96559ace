/** Amounts that a person types on the exit page. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { weiOf } from "../src/exit/nodes.ts";

test("an amount of the coin is read exactly, with a point or a comma", () => {
  assert.equal(weiOf("0.01", "en"), 10n ** 16n);
  assert.equal(weiOf(" 0,01 ", "en"), 10n ** 16n);
  assert.equal(weiOf("2", "en"), 2n * 10n ** 18n);
  assert.equal(weiOf("0.000000000000000001", "en"), 1n);
  for (const wrong of ["", ".", "1.", "-1", "1e3", "0x1", "1.0000000000000000001", "much", "1,234", "1000000000"])
    assert.equal(weiOf(wrong, "en"), null);
  assert.deepEqual([weiOf("1.234", "de"), weiOf("1,234", "de")], [null, 1234n * 10n ** 15n]);
});
