/** What a pinning service answers (vectors/service/pins.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { Pinning } from "../src/snapshots/pinning.ts";
import { vectors } from "./vector_files.js";

const { pin: usual, cases, no_pins: others } = vectors("service/pins.json");
const pinningOf = (answer) => new Pinning("https://pins.example", "token", async () => Response.json(answer));
const REFUSED = { name: "NetworkError" };

for (const { name, pin, more } of cases)
  test(`a pin: ${name}`, async (context) => {
    context.mock.method(globalThis, "setTimeout", (work) => queueMicrotask(work)); // between the attempts
    const answer = { ...usual, ...more };
    if (!pin) return assert.rejects(pinningOf(answer).get("7"), REFUSED);
    assert.equal((await pinningOf(answer).get("7")).status, answer.status);
    assert.equal((await pinningOf({ count: 1, results: [answer] }).list()).length, 1);
  });

for (const answer of others)
  test(`no list of pins: ${JSON.stringify(answer)}`, async (context) => {
    context.mock.method(globalThis, "setTimeout", (work) => queueMicrotask(work));
    await assert.rejects(pinningOf(answer).list(), REFUSED);
    await assert.rejects(pinningOf(answer).get("7"), REFUSED);
  });
