// Payment service worker: receives a shop's Payment Request, shows it on the confirm page, and responds to the shop.
// The shop's promise is resolved with a PaymentResult, or rejected if no payment is known to have been made: with
// AbortError if the person or the shop cancelled, otherwise with OperationError. Browsers replace the messages of these
// errors, so a shop that sets `data.refusals: "result"` gets {error, message} as a result instead.
"use strict";

const CONFIRM_PAGE = "/pay/confirm";
const PAGE_OPENS_WITHIN_MS = 15_000;
const ANSWER_WITHIN_MS = 10 * 60_000;
const CAN_PAY_WITHIN_MS = 3_000;
const AFTER_ABORT_MS = 500;
const VAULTS = { database: "holdfast-vault", store: "vaults" };

const NOT_OPENED = { error: "page_not_opened", message: "The payment page did not open. Nothing was paid." };
const NO_ANSWER = { error: "no_answer_in_time", message: "The payment was not approved in time. Nothing was paid." };
const ABORTED = { error: "aborted_by_shop", message: "The shop withdrew its request. Nothing was paid.", cancelled: true };

/** The unfinished payment requests, by ID: what the confirm page shows, and the functions that respond to the shop. */
const pending = new Map();

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("canmakepayment", (event) => event.respondWith(canPay()));

self.addEventListener("paymentrequest", (event) => {
  const request = describe(event);
  event.respondWith(
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => refuse(request.id, NOT_OPENED), PAGE_OPENS_WITHIN_MS);
      pending.set(request.id, { request, resolve, reject, timer });
    }),
  );
  const page = `${CONFIRM_PAGE}?request=${encodeURIComponent(request.id)}`;
  event.openWindow(page).then(
    (client) => client || refuse(request.id, NOT_OPENED),
    () => refuse(request.id, NOT_OPENED),
  );
});

self.addEventListener("abortpayment", (event) => {
  // A payment that is being sent to the chain cannot be cancelled, so the shop has to wait for its outcome.
  const requests = [...pending].filter(([, entry]) => !entry.handedOver).map(([id]) => id);
  event.respondWith(requests.length > 0);
  // If this handler responds with "true", the browser ends the request. This worker refuses the request a
  // little later, so that its refusal does not collide with the browser's.
  setTimeout(() => requests.forEach((id) => refuse(id, ABORTED)), AFTER_ABORT_MS);
});

self.addEventListener("message", (event) => {
  const message = event.data ?? {};
  const entry = pending.get(message.request);
  if (!isConfirmPage(event.source)) return;
  if (!entry) {
    event.source.postMessage({ type: "over" });
  } else if (message.type === "ready") {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => refuse(message.request, NO_ANSWER), ANSWER_WITHIN_MS);
    entry.page = event.source;
    event.source.postMessage({ type: "request", request: entry.request });
  } else if (message.type === "handing over") {
    clearTimeout(entry.timer); // from now on only the chain decides, and the page waits for it
    entry.handedOver = true;
  } else if (message.type === "paid") {
    settle(message.request, ({ resolve, request }) => resolve({ methodName: request.method, details: message.result }));
  } else if (message.type === "refused") {
    refuse(message.request, message.refusal);
  }
});

/** Whether this client is the confirm page, the only page of this origin that may respond to shops. */
function isConfirmPage(client) {
  return Boolean(client?.url) && new URL(client.url).pathname === CONFIRM_PAGE;
}

/** Returns what the confirm page shows, taken from the method data for this payment handler. */
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

/** Tells the shop that no payment is known to have been made. */
function refuse(id, { error, message, cancelled = false }) {
  settle(id, ({ request, resolve, reject }) => {
    if (request.data?.refusals === "result") resolve({ methodName: request.method, details: { error, message } });
    else reject(new DOMException(message, cancelled ? "AbortError" : "OperationError"));
  });
}

/** Responds to the shop, at most once for each request. */
function settle(id, answer) {
  const entry = pending.get(id);
  if (!entry) return;
  pending.delete(id);
  clearTimeout(entry.timer);
  entry.page?.postMessage({ type: "over" });
  answer(entry);
}

/** Whether a payment can be made here: this browser has a vault, and the service has a bundler for its chain. */
async function canPay() {
  try {
    return (await hasVault()) && (await hasBundler());
  } catch {
    return false;
  }
}

async function hasVault() {
  // Opening a missing database would create it, without its object stores.
  const known = await indexedDB.databases();
  if (!known.some(({ name }) => name === VAULTS.database)) return false;
  const database = await done(indexedDB.open(VAULTS.database));
  try {
    if (!database.objectStoreNames.contains(VAULTS.store)) return false;
    return (await done(database.transaction(VAULTS.store).objectStore(VAULTS.store).count())) > 0;
  } finally {
    database.close();
  }
}

async function hasBundler() {
  const signal = AbortSignal.timeout(CAN_PAY_WITHIN_MS);
  const asked = { jsonrpc: "2.0", id: 1, method: "eth_supportedEntryPoints", params: [] };
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(asked), signal };
  const [contracts, bundler] = await Promise.all([fetch("/api/contracts", { signal }), fetch("/api/bundler", post)]);
  if (!contracts.ok || !bundler.ok) return false;
  const { entryPoint } = await contracts.json();
  const { result } = await bundler.json();
  return Array.isArray(result) && result.some((address) => address.toLowerCase() === entryPoint.toLowerCase());
}

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
