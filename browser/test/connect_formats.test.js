/** The formats of /connect: how the page parses requests, and how the page and the app's server build signed texts. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { connect } from "../src/connect.ts";
import { isDeclared } from "../src/connect/declared.ts";
import { signedText } from "../src/connect/message.ts";
import { askingOrigin, readRequest, returnAddress } from "../src/connect/request.ts";
import { readRequest as readPayment } from "../src/pay/request.ts";
import { vectors } from "./vector_files.js";

const REQUESTS = vectors("connect/requests.json");

for (const { name, message, read, error, what } of REQUESTS.cases)
  test(`a request: ${name}`, () => {
    if (read) assert.deepEqual(readRequest(message, REQUESTS.now), read);
    else assert.throws(() => readRequest(message, REQUESTS.now), { code: error, what: what ?? "" });
  });

test("the page signs the text that servers expect", () => {
  const { facts, message } = vectors("connect/signatures.json");
  assert.equal(signedText({ ...facts, issued: new Date(facts.issued * 1000 + 999) }), message);
});

const NO = "origin_refused";
for (const [origin, back, referrer, asking, answer] of [
  [
    "https://app.example",
    "https://app.example/back?x=1#y",
    "https://app.example/",
    "https://app.example",
    "https://app.example/back?x=1",
  ],
  [
    "http://localhost:8000",
    "http://localhost:8000/",
    "http://localhost:8000/",
    "http://localhost:8000",
    "http://localhost:8000/",
  ],
  ["http://app.example", "http://app.example/", "http://app.example/", NO, NO],
  ["null", "https://app.example/", "", NO, NO],
  ["https://app.example/path", "https://app.example/", "https://evil.example/", NO, NO],
  ["file://", "javascript:alert(1)", "https://app.example/", NO, NO],
  ["https://user@app.example", "https://user:secret@app.example/", "https://app.example/", NO, NO],
  ["", null, "https://app.example/", NO, NO],
  ["https://app.example:444", "https://app.example:444/", "https://app.example/", "https://app.example:444", NO],
  ["https://app.example", "blob:https://app.example/0123", "https://app.example/", "https://app.example", NO],
  ["https://app.example", `https://app.example/${"x".repeat(2048)}`, "https://app.example/", "https://app.example", NO],
])
  test(`who may ask, and where the answer goes: ${origin}, ${String(back).slice(0, 50)}`, () => {
    const tried = (work) => {
      try {
        return String(work());
      } catch ({ code }) {
        return code;
      }
    };
    assert.equal(
      tried(() => askingOrigin(origin).origin),
      asking,
    );
    assert.equal(
      tried(() => returnAddress(back, referrer)),
      answer,
    );
  });

const codes = (...ranges) =>
  ranges.flatMap(([first, last = first]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
const INVISIBLE = codes(
  ...[0xad, 0x34f, 0x115f, 0x1160, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x2028, 0x202e, 0x2060, 0x206f, 0x2800].map(
    (code) => [code],
  ),
  ...[0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffb, 0x13430, 0x16fe4, 0x1bca0, 0x1d159, 0x1d173].map(
    (code) => [code],
  ),
  [0xe0001],
  [0xe0020, 0xe007f],
  [0xe01ef],
);
const HIDDEN = [
  ...INVISIBLE.map((code) => `a${String.fromCodePoint(code)}b`),
  "I log in.\u{e0061}\u{e006e}\u{e0064}",
  "a\u200d👩",
  "👩\u200d",
  "a\ufe0f",
  "#\ufe0f",
  "👩\u200d\u200d🚀",
  "🏴\u{e0067}\u{e007f}",
];
const VISIBLE = ["Ärger, naïve, Ωμέγα, 日本語, שלום", "👩‍🚀", "👩🏽‍🚀", "❤️‍🔥", "🏃‍♀️", "1️⃣ #️⃣", "©️", "a b\u00a0c"];
const asking = (request) => readRequest({ state: "0".repeat(32), expires: 60, request }, 0);
const signing = (text) => ({ sign: { text, challenge: "c".repeat(32) } });

test("no text or name hides characters, in any position", () => {
  for (const text of HIDDEN) {
    const points = [...text].map((it) => it.codePointAt(0)?.toString(16)).join(" ");
    assert.throws(() => asking({ name: text }), { what: "name" }, points);
    assert.throws(() => asking(signing(text)), { what: "sign.text" }, points);
  }
});

test("what an emoji needs is allowed within one", () => {
  for (const text of VISIBLE)
    for (const request of [{ name: text }, signing(text)]) assert.equal(asking(request).state.length, 32, text);
});

test("a shop's words become one plain line", () => {
  const data = { to: "0x52908400098527886E0F7030069857D2E4169EE7", amount: "1", token: "native", chainId: 1 };
  const facts = { chainId: 1, chainName: "", usdc: "" };
  const total = { currency: "USD", value: "1" };
  const labelled = (label) =>
    readPayment({ site: "https://shop.example", total, data: { ...data, label } }, facts).label;
  assert.equal(labelled("Two\n\tbooks \u202e\u{e0061} \u3164\u2800for ada"), "Two books for ada");
  assert.equal(labelled("\u3164"), "");
});

const BACK = "https://app.example/back?x=1";
for (const [wanted, body, status = 200] of [
  [true, { returns: ["https://app.example/", BACK] }],
  [true, { returns: ["/back?x=1"] }],
  [false, { returns: ["/", "/back", "/back?x=2", 7, null, "https://evil.example/back?x=1"] }],
  [false, { returns: BACK }],
  [false, [BACK]],
  [false, "<!doctype html>"],
  [false, { returns: [BACK] }, 404],
  [false, { returns: [BACK], more: "x".repeat(16384) }],
  [false, null], // a redirect, or no CORS
])
  test(`an answer goes only to an address that the app has declared: ${JSON.stringify(body)?.slice(0, 80)}, ${status}`, async () => {
    const asked = [];
    const answers = async (address, { redirect, credentials, signal }) => {
      asked.push(String([address, redirect, credentials, signal instanceof AbortSignal]));
      if (body === null) throw new TypeError("a redirect, or no CORS");
      return new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
    };
    assert.equal(await isDeclared(new URL(BACK), answers), wanted);
    assert.deepEqual(asked, ["https://app.example/.well-known/holdfast-connect,error,omit,true"]);
  });

test("a second call takes the window of the first, which ends, so that the person sees what was asked last", async (context) => {
  const service = "https://vault.example";
  const asked = [];
  const popup = { closed: false, postMessage: (message) => asked.push(message) };
  context.mock.method(((globalThis.open ??= () => null), globalThis), "open", () => popup);
  const calls = ["first", "second"].map((name) => connect({ name }, { service }));
  const ended = assert.rejects(calls[0], { code: "window_closed" });
  const says = (fields) => {
    const data = { holdfast: "connect/1", ...fields };
    dispatchEvent(Object.assign(new Event("message"), { data, source: popup, origin: service }));
  };
  says({ type: "ready", nonce: "n" });
  assert.deepEqual(
    asked.map(({ request }) => request.name),
    ["second"],
  );
  await ended;
  says({ type: "result", state: asked[0].state, result: { did: "did:new:0x1" } });
  assert.deepEqual(await calls[1], { did: "did:new:0x1" });
});
