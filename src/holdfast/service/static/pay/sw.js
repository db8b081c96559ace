// Payment service worker: takes a shop's Payment Request, shows it on the confirm page, and answers the shop.
// The shop's promise always settles: with the page's outcome, or with the reason why there was none.
"use strict";

const CONFIRM_PAGE = "/pay/confirm";
const PAGE_OPENS_WITHIN_MS = 15_000;
const ANSWER_WITHIN_MS = 10 * 60_000;
const AFTER_ABORT_MS = 500;

/** Open requests by payment request ID: what the page shows, and how the shop is answered. */
const pending = new Map();

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

// The confirm page cannot sign yet, so no shop may count on this handler: it goes on to its next method of payment.
self.addEventListener("canmakepayment", (event) => event.respondWith(false));

self.addEventListener("paymentrequest", (event) => {
  const request = describe(event);
  event.respondWith(
    new Promise((resolve) => {
      const timer = setTimeout(() => settle(request.id, failure("page_not_opened")), PAGE_OPENS_WITHIN_MS);
      pending.set(request.id, { request, resolve, timer });
    }),
  );
  const page = `${CONFIRM_PAGE}?request=${encodeURIComponent(request.id)}`;
  event.openWindow(page).then(
    (client) => client || settle(request.id, failure("page_not_opened")),
    () => settle(request.id, failure("page_not_opened")),
  );
});

self.addEventListener("abortpayment", (event) => {
  const requests = [...pending.keys()];
  event.respondWith(requests.length > 0);
  // The browser ends the request on "true"; an answer at the same moment would cross it, so ours comes after.
  setTimeout(() => requests.forEach((id) => settle(id, failure("aborted_by_shop"))), AFTER_ABORT_MS);
});

self.addEventListener("message", (event) => {
  const message = event.data ?? {};
  const entry = pending.get(message.request);
  if (!entry) {
    event.source?.postMessage({ type: "over" });
  } else if (message.type === "ready") {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => settle(message.request, failure("no_answer_in_time")), ANSWER_WITHIN_MS);
    entry.page = event.source;
    event.source.postMessage({ type: "request", request: entry.request });
  } else if (message.type === "settle") {
    settle(message.request, message.details);
  }
});

/** What the page needs to show, from the method data that is meant for this handler. */
function describe(event) {
  const method = `${self.location.origin}/pay`;
  const entry = event.methodData.find((candidate) => candidate.supportedMethods === method) ?? event.methodData[0];
  return {
    id: event.paymentRequestId,
    method: entry?.supportedMethods ?? method,
    site: event.topOrigin.replace(/\/$/, ""),
    total: { currency: event.total.currency, value: event.total.value },
    data: entry?.data ?? {},
  };
}

function failure(error) {
  return { success: false, error };
}

/** Answers the shop once. A rejected answer would leave some browsers' dialogs open for ever, so failures resolve. */
function settle(id, details) {
  const entry = pending.get(id);
  if (!entry) return false;
  pending.delete(id);
  clearTimeout(entry.timer);
  entry.page?.postMessage({ type: "over" });
  entry.resolve({ methodName: entry.request.method, details });
  return true;
}
