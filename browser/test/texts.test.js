/** The tables of texts: the same keys and placeholders in every language, which types cannot say of placeholders. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import deAdmin from "../src/texts/de/admin.ts";
import deExit from "../src/texts/de/exit.ts";
import deKeys from "../src/texts/de/keys.ts";
import deMove from "../src/texts/de/move.ts";
import dePages from "../src/texts/de/pages.ts";
import dePay from "../src/texts/de/pay.ts";
import deSheet from "../src/texts/de/sheet.ts";
import enAdmin from "../src/texts/en/admin.ts";
import enExit from "../src/texts/en/exit.ts";
import enKeys from "../src/texts/en/keys.ts";
import enMove from "../src/texts/en/move.ts";
import enPages from "../src/texts/en/pages.ts";
import enPay from "../src/texts/en/pay.ts";
import enSheet from "../src/texts/en/sheet.ts";
import { dateOf } from "../src/kit/dates.ts";
import { day, moment } from "../src/pages/parts/language.ts";

const placeholders = (sentence) => [...sentence.matchAll(/\{\w+\}/g)].map(String).sort();

for (const [name, en, de] of [
  ["pages", enPages, dePages],
  ["payment window", enPay, dePay],
  ["screens about keys", enKeys, deKeys],
  ["page for moving", enMove, deMove],
  ["operators' page", enAdmin, deAdmin],
  ["exit page", enExit, deExit],
  ["payment sheet", enSheet, deSheet],
])
  test(`both languages of the ${name} have the same texts, in the same order, with the same placeholders`, () => {
    assert.deepEqual(Object.keys(de), Object.keys(en));
    assert(Object.keys(en).length > 10);
    for (const [key, sentence] of Object.entries(en))
      assert.deepEqual(placeholders(de[key]), placeholders(sentence), key);
  });

test("every text of the payment window is translated", () => {
  const same = Object.keys(enPay).filter((key) => enPay[key] === dePay[key]);
  assert.deepEqual(same.sort(), ["sheet.chain", "shop", "token"]);
});

test("a time that no date expresses, such as an owner's on the chain, does not keep a page from being shown", () => {
  const last = 2 ** 48 * 1000;
  assert.equal(dateOf(last).toISOString(), "+275760-09-13T00:00:00.000Z");
  for (const written of [day, moment]) {
    assert.match(written(last), /275760/);
    assert.match(written("2026-01-02T03:04:05Z"), /2026/);
    assert.equal(written("soon"), "soon");
  }
});
