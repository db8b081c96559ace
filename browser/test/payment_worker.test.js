/** What the payment handler's worker tells shops and the payment window (src/holdfast/service/static/pay/sw.js). */

import assert from "node:assert/strict";
import { setImmediate as settled } from "node:timers/promises";
import { test } from "node:test";

import { PaymentWorker } from "./payment_worker.js";

const RESULT = { txHash: "0x11", userOpHash: "0x11", chain: 84532, token: "native", explorerUrl: "" };
const CANCELLED = { error: "user_cancelled", message: "The person cancelled.", cancelled: true };
const TOO_LITTLE = { error: "insufficient_balance", message: "Too little.", cancelled: false };
const OPTED = { refusals: "result" };
const TEN_MINUTES_MS = 600_000;
const AFTER_ABORT_MS = 500;
const PAGE_OPENS_WITHIN_MS = 15_000;

/** A worker that one shop has asked, with the page that shows the request. */
function asked(data = OPTED) {
  const worker = new PaymentWorker();
  const shop = worker.asked(data);
  worker.hears(shop, "ready");
  return { worker, shop };
}

test("a shop gets the result, and the page what the shop asked", async () => {
  const { worker, shop } = asked({ to: "ours" });
  worker.hears(shop, "paid", { result: RESULT });
  await settled();
  assert.deepEqual(shop.answer, { methodName: "https://vault.example/pay", details: RESULT });
  const [{ request }] = worker.sent;
  assert.deepEqual(request.data, { to: "ours" });
  assert.deepEqual([request.site, request.inside], ["https://frame.example", "https://shop.example"]);
});

for (const [refusal, name] of [
  [CANCELLED, "AbortError"],
  [TOO_LITTLE, "OperationError"],
])
  test(`a shop is refused with ${name}, or told why if it wants results`, async () => {
    for (const data of [{ to: "ours" }, OPTED]) {
      const { worker, shop } = asked(data);
      worker.hears(shop, "refused", { refusal });
      await settled();
      if (data === OPTED) assert.deepEqual(shop.answer.details, { error: refusal.error, message: refusal.message });
      else assert.equal(shop.refused, name);
    }
  });

test("another page of the same origin has nothing to say", async () => {
  const { worker, shop } = asked();
  worker.hears(shop, "paid", { url: "https://vault.example/vault", result: { txHash: "0xbad" } });
  worker.hears(shop, "paid", { result: RESULT });
  await settled();
  assert.deepEqual(shop.answer.details, RESULT);
});

test("two requests with the same ID of the shop do not cross", async () => {
  const { worker, shop } = asked();
  const second = worker.asked(OPTED);
  worker.hears(second, "ready", { page: 2 });
  worker.hears(shop, "paid", { result: RESULT });
  await settled();
  assert.deepEqual(shop.answer.details, RESULT);
  assert.equal(second.answer, undefined);
});

test("only the page that was told to go on reports what became of the payment", async () => {
  const { worker, shop } = asked();
  worker.hears(shop, "ready", { page: 2 });
  for (const page of [1, 2]) worker.hears(shop, "handing over", { page });
  worker.hears(shop, "refused", { page: 2, refusal: CANCELLED });
  worker.hears(shop, "ready", { page: 3 });
  worker.hears(shop, "paid", { result: RESULT });
  await settled();
  const gone = [1, "go"];
  const over = [2, 2, 3, 1, 2].map((page) => [page, "over"]);
  assert.deepEqual(worker.told, [[1, "request"], [2, "request"], gone, ...over]);
  assert.deepEqual(shop.answer.details, RESULT);
});

test("a shop that withdrew its requests is not paid", async () => {
  const { worker, shop } = asked();
  const second = worker.asked(OPTED);
  assert.equal(worker.withdrawn(), true);
  worker.hears(shop, "handing over");
  worker.hears(second, "ready", { page: 2 });
  assert.deepEqual(worker.told, [
    [1, "request"],
    [1, "over"],
    [2, "over"],
  ]);
  worker.timers.pass(AFTER_ABORT_MS);
  await settled();
  for (const { answer } of [shop, second]) assert.equal(answer.details.error, "aborted_by_shop");
});

test("what is being sent to the chain cannot be withdrawn", async () => {
  const { worker, shop } = asked();
  const second = worker.asked(OPTED);
  worker.hears(second, "ready");
  for (const one of [shop, second]) worker.hears(one, "handing over");
  assert.equal(worker.withdrawn(), false);
  worker.timers.pass(TEN_MINUTES_MS);
  worker.hears(shop, "paid", { result: RESULT });
  await settled();
  assert.deepEqual(shop.answer.details, RESULT);
});

for (const [end, expected] of [
  ["ten minutes", "no_answer_in_time"],
  ["abort", "aborted_by_shop"],
]) {
  const ends = (worker) => {
    if (end === "abort") worker.withdrawn();
    worker.timers.pass(end === "abort" ? AFTER_ABORT_MS : TEN_MINUTES_MS);
  };
  test(`while a payment is under way, only the chain decides: ${end}`, async () => {
    const { worker, shop } = asked();
    worker.hears(shop, "handing over");
    ends(worker);
    worker.hears(shop, "paid", { result: RESULT });
    await settled();
    assert.deepEqual(shop.answer.details, RESULT);
  });
  test(`a payment that failed before it was signed can end again: ${end}`, async () => {
    const { worker, shop } = asked();
    worker.hears(shop, "handing over");
    worker.hears(shop, "asking again");
    ends(worker);
    await settled();
    assert.equal(shop.answer.details.error, expected);
  });
}

test("a shop is told that the payment's page did not open", async () => {
  const worker = new PaymentWorker();
  const shop = worker.asked(OPTED);
  worker.timers.pass(PAGE_OPENS_WITHIN_MS);
  await settled();
  assert.equal(shop.answer.details.error, "page_not_opened");
});
