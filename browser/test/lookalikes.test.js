/** What the page says about a payee that looks like another: mixed alphabets, digits, earlier payees. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { doubtsAbout } from "../src/pages/send/lookalikes.ts";

const did = (middle, start = "ab12") => `did:new:0x${start}${middle.repeat(56)}cd34`;
const CASES = [
  ["alice", ["bob"], {}],
  ["alice", ["alice"], {}],
  ["jörg", [], {}],
  ["田中tanaka", [], {}],
  ["p\u0430ypal", [], { foreign: true }], // a Cyrillic a
  ["p\u0430ypal", ["paypal"], { foreign: true, alike: "paypal" }],
  ["paypa1", [], { digits: "1" }],
  ["b0bl1", [], { digits: "0, 1" }],
  ["agent-007", [], {}],
  ["paypa1", ["paypal"], { digits: "1", alike: "paypal" }],
  ["barn", ["bam"], { alike: "bam" }],
  ["ali\u0307ce", ["alice"], { alike: "alice" }], // one more dot, which does not show
  ["andr\u00e9", ["andre"], {}],
  ["\u0441\u043e\u043e\u0440", ["coop"], { alike: "coop" }], // entirely Cyrillic
  ["did:web:xn--pypal-4ve.com", [], { foreign: true }],
  ["did:web:paypa1.com", ["did:web:paypal.com"], { digits: "1", alike: "did:web:paypal.com" }],
  [did("0"), [did("0")], {}],
  [did("0"), [did("1")], { alike: did("1") }],
  [did("0"), [did("0", "ab13"), `0x${"11".repeat(20)}`, "bob"], {}],
];

for (const [to, paid, doubts] of CASES)
  test(`${to} after ${paid.join(", ") || "no payment"}`, () => {
    assert.deepEqual(doubtsAbout(to, paid), { foreign: false, digits: "", alike: "", ...doubts });
  });
