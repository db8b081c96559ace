/** Parts of the payment window: what it tells the payment worker, how the vault is opened, and what the sheet says. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { navigatorHas, one, until } from "./dom.js";
import { AccountNotFunded, PaymentRefused, SecondKeyMissing, WebAuthnError } from "../src/holdfast.ts";
import { KeyEntry } from "../src/pay/key_entry.ts";
import { refusalOf, isPassing } from "../src/pay/refusals.ts";
import { readRequest } from "../src/pay/request.ts";
import { giveSecondKey } from "../src/pay/second_key.ts";
import { requestSheet, showFee, showLeft } from "../src/pay/sheet.ts";
import { showRefusal } from "../src/pay/endings.ts";
import { screen } from "../src/pay/screens.ts";
import { Shop } from "../src/pay/shop.ts";

const PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7";
const FACTS = { chainId: 84532, chainName: "Base Sepolia", usdc: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" };

/** A shop's request in the payment worker; `says` is what the worker sends. */
function shop(context) {
  const worker = new EventTarget();
  const heard = [];
  const over = context.mock.fn();
  navigatorHas(
    "serviceWorker",
    Object.assign(worker, { startMessages() {}, controller: { postMessage: (message) => heard.push(message) } }),
  );
  context.after(() => delete navigator.serviceWorker);
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const made = new Shop("7", { onRequest: () => {}, onOver: over });
  const says = (data) => worker.dispatchEvent(new MessageEvent("message", { data }));
  return { shop: made, heard, over, says };
}

for (const [what, answer, expected] of [
  ["waits", ({ says }) => says({ type: "go" }), true],
  ["was told otherwise", ({ says }) => says({ type: "over" }), false],
  ["is not answered for by its worker", (_, context) => context.mock.timers.tick(10_000), false],
])
  test(`something is signed only if the shop still waits: it ${what}`, async (context) => {
    const made = shop(context);
    const asked = made.shop.isWaiting();
    answer(made, context);
    assert.equal(await asked, expected);
    assert.deepEqual(
      made.heard.map(({ type, request }) => [type, request]),
      [
        ["ready", "7"],
        ["handing over", "7"],
      ],
    );
    assert.equal(made.over.mock.callCount(), 0, "the page had asked");
  });

test("a request that the shop ends is over, unless it was answered", (context) => {
  const { shop: made, over, says, heard } = shop(context);
  says({ type: "over" });
  made.refused("insufficient_fee");
  says({ type: "over" });
  assert.equal(over.mock.callCount(), 1);
  const { refusal } = heard.at(-1);
  assert.deepEqual([refusal.error, refusal.cancelled], ["insufficient_balance", false]);
  made.refused("user_cancelled");
  assert.equal(heard.at(-1).refusal.cancelled, true);
});

test("a password opens the vault, also by Enter, and a passkey instead", async (context) => {
  document.fill();
  const submitted = context.mock.fn();
  const entry = new KeyEntry(submitted);
  entry.switch();
  entry.focus();
  assert.equal(document.activeElement.id, "password");
  one("#password").value = "correct horse";
  const enter = new Event("submit", { cancelable: true });
  one("#password-form").dispatchEvent(enter);
  assert.deepEqual([submitted.mock.callCount(), enter.defaultPrevented], [1, true]);
  assert.deepEqual(await entry.key(), { kind: "password", password: "correct horse" });
  entry.switch();
  assert.equal(document.getElementById("password-form"), null);
  await assert.rejects(entry.key(), { reason: "unsupported" }); // it asked for a passkey
});

const KEYS = ["11", "22"].map((it) => it.repeat(64));
const cose = (key) => Buffer.from(`215820${key.slice(0, 64)}225820${key.slice(64)}`, "hex").toString("base64");

for (const presses of ["approve", "cancel"])
  test(`the second passkey is asked for by its name, after a press: ${presses}`, async (context) => {
    document.fill();
    const rows = KEYS.map((key, at) => ({
      public_key: cose(key),
      device_name: `key ${at}`,
      credential_id: `AA${at}A`,
    }));
    const client = { vault: { exec: async () => ({ result: rows }) } };
    giveSecondKey(client, { kind: "prf", id: "AA0A" }, "de");
    assert.deepEqual(
      await client.secondKey.signers(),
      KEYS.map((it) => `0x${it}`),
    );
    const get = context.mock.fn(async () => Promise.reject(new DOMException("no", "NotAllowedError")));
    globalThis.PublicKeyCredential = class {};
    navigatorHas("credentials", { get });
    context.after(() => (delete globalThis.PublicKeyCredential, navigatorHas("credentials", undefined)));
    const signed = client.secondKey.sign(`0x${"33".repeat(32)}`, await client.secondKey.signers());
    const refused = assert.rejects(signed, { reason: "cancelled" });
    await until(() => one("#alert").textContent !== "");
    assert.equal(one("#alert").textContent, "Diese Zahlung braucht einen zweiten Passkey: key 1");
    one(`#${presses}`).onclick();
    await refused;
    assert.deepEqual([one("#alert").textContent, get.mock.callCount()], ["", presses === "approve" ? 1 : 0]);
  });

/** Draws the sheet for a shop's request, and returns its text. */
function sheet({ did = null, familiarity = "new", payers = [{ did: "did:new:0x1", name: "ada" }], ...more } = {}) {
  document.fill();
  const { site = "https://books.example", inside, total = { currency: "USD", value: "12.50" }, ...changes } = more;
  const data = { to: PAYEE, amount: "12500000", token: FACTS.usdc, chainId: 84532, ...changes };
  const request = readRequest({ site, inside, total, data }, FACTS);
  const choice = { payers, did: payers[0].did, onChoice: (chosen) => (choice.chosen = chosen) };
  screen("", [requestSheet(request, { address: PAYEE, did }, { chainName: "Base Sepolia", choice, familiarity })], []);
  return { request, choice, said: one("#screen").textContent };
}

for (const [what, asked, words] of [
  ["the shop, the amount, the chain", {}, ["12.50\u00a0USDC", "books.example", "Base Sepolia (84532)"]],
  ["the label as the shop's words", { label: "Two <b>books</b>" }, ["Two <b>books</b>"]],
  ["the page around a frame", { inside: "https://mall.example" }, ["It asks inside a page of mall.example."]],
  ["a shop without encryption", { site: "http://books.example" }, ["http://books.example", "not encrypted"]],
  ["an address that only looks like a payee's", { familiarity: "alike" }, ["it is another one"]],
  ["a payee without a verified identity", {}, ["without a verified identity"]],
  ["letters of another alphabet", { did: "did:web:xn--bcher-kva.example" }, ["another alphabet"]],
  ["a token that the service does not know", { token: PAYEE, amount: "31" }, ["31", "token"]],
  ["another unit than the price's", { total: { currency: "EUR", value: "11.00" } }, ["11.00 EUR"]],
])
  test(`the sheet says ${what}`, () => {
    const { said } = sheet(asked);
    for (const it of words) assert.ok(said.includes(it), said);
    assert.equal(said.includes("another alphabet"), what.includes("alphabet"));
  });

test("fee and what is left are those of the chosen vault", () => {
  const payers = ["1", "2"].map((digit) => ({ did: `did:new:0x${digit}`, name: "" }));
  const { request, choice } = sheet({ payers });
  one("#vaults").value = payers[1].did;
  one("#vaults").dispatchEvent(new Event("change"));
  assert.equal(choice.chosen, payers[1].did);
  showLeft(request, 87_500_000n);
  showFee({ sponsored: false, cost: 120_000_000_000_000n });
  assert.equal(one("#left").textContent, "87.50\u00a0USDC will be left");
  assert.equal(one("#fee").textContent, "At most 0.00012\u00a0ETH, from your account");
  showFee({ sponsored: true, cost: 0n });
  assert.match(one("#fee").textContent, /sponsor/);
  showFee(null);
  assert.doesNotMatch(one("#fee").textContent, /sponsor|0\.0/);
});

const OTHER = `0x${"6b17".padEnd(124, "0")}51f5`;
for (const [error, code, words] of [
  [new PaymentRefused("over", "policy_denied"), "limit_exceeded", "over the limit"],
  [new PaymentRefused("late", "token_expired"), "delegation_expired", "expired"],
  [new PaymentRefused("none", "payee_unregistered"), "payee_unregistered", "DID is not registered"],
  [new PaymentRefused("odd", "anything"), "delegation_refused", ""],
  [new SecondKeyMissing(PAYEE, [OTHER]), "second_missing", "The second key is missing: 6b17 … 51f5."],
  [new WebAuthnError("late", "timed_out"), "passkey_timed_out", ""],
  [new WebAuthnError("gone", "aborted"), "passkey_cancelled", ""],
  [
    new AccountNotFunded("too little", { address: PAYEE, token: FACTS.usdc, balance: 0n, needed: 12_500_000n }),
    "insufficient_balance",
    "12.50\u00a0USDC",
  ],
  [
    new AccountNotFunded("too little", { address: PAYEE, token: "native", balance: 0n, needed: 10n ** 15n }),
    "insufficient_fee",
    "0.001\u00a0ETH",
  ],
])
  test(`${error.name} is told as ${code}`, () => {
    document.fill();
    const refusal = refusalOf(error);
    assert.equal(refusal.code, code);
    assert.equal(isPassing(refusal), code.startsWith("passkey_"));
    showRefusal(refusal, () => {});
    const said = one("#screen").textContent;
    assert.ok(said.includes(words) && said.includes("Nothing was paid."), said);
    assert.equal(Boolean(document.getElementById("receive")), code.startsWith("insufficient"));
  });
