/** The operators' page saves all pages of a list as one CSV file, says in words what is banned, and keeps the focus. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { press, told, until } from "./dom.js";
import { button } from "../src/admin/screen.ts";
import { bans } from "../src/admin/others.ts";
import { allPages, get } from "../src/admin/port.ts";
import { switchTongue, text } from "../src/admin/texts.ts";

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

test("what is banned is said in the operator's language", async (context) => {
  globalThis.sessionStorage ??= localStorage;
  document.fill();
  const rows = ["name sms +491", "network 192.0.2.0/24"].map((subject) => ({ subject, at: 0, reason: "" }));
  context.mock.method(globalThis, "fetch", async () => Response.json({ rows, after: null }));
  await bans();
  assert.match(told("screen"), /name phone \+491.*network 192/s);
  switchTongue();
  await bans();
  switchTongue();
  assert.match(told("screen"), /Name Telefon \+491.*Netz 192/s);
});

test("a button whose work fails has the focus again", async () => {
  document.fill();
  const failing = button("csv", async () => Promise.reject(new Error("none")));
  document.body.append(failing);
  press("csv");
  await until(() => document.activeElement === failing);
  assert.equal(told("alert"), "Error: none");
});

/** @type {[string, typeof fetch][]} */
const UNUSABLE = [
  [
    "never comes",
    // without a signal it would wait for ever
    (_url, { signal }) => (signal?.aborted ? Promise.reject(signal.reason) : Promise.resolve(Response.json({}))),
  ],
  ["stops midway", async () => new Response(new ReadableStream({ pull: (it) => it.error(new TypeError("cut")) }))],
  ["is not the port's", async () => new Response("<p>")],
];

for (const [what, fetch] of UNUSABLE)
  test(`an answer of the port that ${what} is told`, async (context) => {
    globalThis.sessionStorage ??= localStorage;
    document.fill();
    context.mock.method(AbortSignal, "timeout", () => AbortSignal.abort());
    context.mock.method(globalThis, "fetch", fetch);
    document.body.append(button("look", () => get("counts")));
    press("look");
    await until(() => told("alert") !== "");
    assert.equal(told("alert"), text("error.network"));
  });
