/** The operators' page saves all pages of a list as one CSV file. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { allPages } from "../src/admin/port.ts";

/** @param {[string, string][]} pages rows and where each ends */
function pages(pages) {
  const asked = [];
  const read = async (after) => {
    asked.push(after);
    const [rows, next] = pages[asked.length - 1] ?? ["n\n9\n", "on"];
    return { rows, after: next };
  };
  return { read, asked };
}

test("the columns are named once, also if the first page has no rows", async () => {
  const given = pages([
    ["\n", "a"],
    ["n\n1\n", "b"],
    ["n\n2\n", "c"],
    ["\n", ""],
  ]);
  assert.equal(await allPages(given.read), "n\n1\n2\n");
  assert.deepEqual(given.asked, ["", "a", "b", "c"]);
});

test("a list without end is cut off", async () => {
  const given = pages([]);
  await allPages(given.read);
  assert.equal(given.asked.length, 100);
});
