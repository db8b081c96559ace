/** What the page shows before a move, and addresses; vectors/flows/move.json has the move itself. */

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";

import "./dom.js";
import { Client } from "../src/client.ts";
import { moveCheck } from "../src/flows/move.ts";
import { serviceAddress } from "../src/flows/move_target.ts";
import { made } from "../src/pages/move/messages.ts";
import { MovePlayer } from "./scenarios/moves.js";

const checked = (player, to = "https://new.example") =>
  moveCheck(player.service("https://old.example"), player.service(to));

test("what would move is shown before anything does, and after an interruption", async () => {
  const player = new MovePlayer();
  const shown = { did: "did:new:0x01", identifier: "ada", channel: "handle" };
  assert.deepEqual(await checked(player), shown);
  assert.deepEqual(player.script.effects, []);
  const stopped = await player.turn({ answers: { "old: take back": "unsent" } });
  assert.equal(stopped.error, "NetworkError");
  assert.deepEqual(await checked(player), shown);
});

test("the check refuses what the move refuses", async () => {
  const taken = new MovePlayer({ taken: { ada: "did:new:0x02" } });
  await assert.rejects(checked(taken), { code: "name_taken" });
  await assert.rejects(checked(taken, "https://old.example"), { code: "same_service" });
});

test("an address is one origin in ASCII, with https", () => {
  assert.equal(serviceAddress(" New.example/ "), "https://new.example");
  assert.equal(serviceAddress("https://new.example:8443"), "https://new.example:8443");
  assert.equal(serviceAddress("http://new.localhost:8787"), "http://new.localhost:8787");
  for (const wrong of [
    "http://new.example",
    "ftp://new.example",
    "https://",
    "https://new.example@evil.example",
    "https://new.example/path",
    "https://new.example?x",
    "https://n\u0435w.example",
    "javascript:alert(1)",
  ])
    assert.equal(serviceAddress(wrong), "", wrong);
});

test("a move does not hold up the account's operations, of which it makes some itself", async () => {
  /** @type {string[]} */
  const asked = [];
  const fetch = (/** @type {string} */ url) => (asked.push(new URL(url).pathname), new Promise(() => {}));
  const query = async () => ({ did: "did:new:0x01", credentials: [{ credential_id: "AAAA" }] });
  const given = { baseUrl: "https://old.example", snapshots: false, vault: { query, close() {} }, fetch };
  const client = new Client(/** @type {any} */ (given));
  void client.move("https://new.example", /** @type {any} */ ({}));
  for (let left = 100; left && !asked.length; left -= 1) await pause(20);
  assert.ok(asked.length, "the move has begun");
  void client.register({ handle: "ada" });
  for (let left = 100; left && !asked.includes("/api/dids/lookup"); left -= 1) await pause(20);
  assert.ok(asked.includes("/api/dids/lookup"), "the registration has begun");
});

test("a passkey that arrives just after its window was closed is taken", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const window = { closed: false };
  const waiting = [made(window, "https://new.example", {}), made({ closed: true }, "https://new.example", {})];
  context.mock.timers.tick(250);
  window.closed = true;
  context.mock.timers.tick(250);
  const data = { holdfast: "move/1", type: "made", credentialId: "AAAA" };
  dispatchEvent(Object.assign(new Event("message"), { source: window, origin: "https://new.example", data }));
  const [passkey, none] = await Promise.all(waiting);
  assert.deepEqual([passkey.credentialId, none], ["AAAA", null]);
});
