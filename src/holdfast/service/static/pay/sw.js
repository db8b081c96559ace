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
const ABORTED = {
  error: "aborted_by_shop",
  message: "The shop withdrew its request. Nothing was paid.",
  cancelled: true,
};

/**
 * The unfinished payment requests: what the confirm page shows, and the functions that respond to the shop. Their IDs are
 * this worker's own, because a shop may use the ID of its order for several requests.
 */
const pending = new Map();

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("canmakepayment", (event) => event.respondWith(canPay()));

self.addEventListener("paymentrequest", (event) => {
  const id = crypto.randomUUID();
  event.respondWith(
    new Promise((resolve, reject) => pending.set(id, { request: describe(event), resolve, reject, pages: new Map() })),
  );
  endsWithin(PAGE_OPENS_WITHIN_MS, id, NOT_OPENED);
  event.openWindow(`${CONFIRM_PAGE}?request=${id}`).then(
    (client) => client || refuse(id, NOT_OPENED),
    () => refuse(id, NOT_OPENED),
  );
});

self.addEventListener("abortpayment", (event) => {
  // A payment that is being sent to the chain cannot be cancelled, so the shop has to wait for its outcome.
  const requests = [...pending].filter(([, entry]) => !entry.payer);
  event.respondWith(requests.length > 0);
  // If this handler responds with "true", the browser ends the request. This worker refuses the request a
  // little later, so that its refusal does not collide with the browser's. Nothing may be paid from now on.
  for (const [, entry] of requests) entry.withdrawn = true;
  setTimeout(() => requests.forEach(([id]) => refuse(id, ABORTED)), AFTER_ABORT_MS);
});

self.addEventListener("message", ({ data, source }) => {
  if (!isConfirmPage(source)) return;
  const { request: id, type, ...said } = data ?? {};
  const entry = pending.get(id);
  // The person may have opened the page's address twice: once one page has begun to pay, the other has nothing to say.
  const isOver = !entry || entry.withdrawn || (entry.payer && entry.payer !== source.id);
  if (isOver) source.postMessage({ type: "over" });
  else if (Object.hasOwn(HEARD, type)) HEARD[type]({ id, entry, source, ...said });
});

/** What the confirm page may say about a request that is not over. */
const HEARD = {
  ready({ id, entry, source }) {
    endsWithin(ANSWER_WITHIN_MS, id, NO_ANSWER);
    entry.pages.set(source.id, source);
    source.postMessage({ type: "request", request: entry.request });
  },
  "handing over"({ entry, source }) {
    clearTimeout(entry.timer); // from now on only the chain decides, and the page waits for it
    entry.payer = source.id;
    source.postMessage({ type: "go" });
  },
  "asking again"({ id, entry }) {
    entry.payer = null; // nothing was signed, so the shop may withdraw its request again
    endsWithin(ANSWER_WITHIN_MS, id, NO_ANSWER);
  },
  paid({ id, result }) {
    settle(id, ({ resolve, request }) => resolve({ methodName: request.method, details: result }));
  },
  refused({ id, refusal }) {
    refuse(id, refusal);
  },
};

/** Refuses a request after some time, unless it has ended or been given more time. */
function endsWithin(ms, id, refusal) {
  const entry = pending.get(id);
  clearTimeout(entry.timer);
  entry.timer = setTimeout(() => refuse(id, refusal), ms);
}

/** Whether this client is the confirm page, the only page of this origin that may respond to shops. */
function isConfirmPage(client) {
  return Boolean(client?.url) && new URL(client.url).pathname === CONFIRM_PAGE;
}

/** Returns what the confirm page shows, taken from the method data for this payment handler. */
function describe(event) {
  const method = `${self.location.origin}/pay`;
  const entry = event.methodData.find((candidate) => candidate.supportedMethods === method) ?? event.methodData[0];
  const [top, asks] = [event.topOrigin, event.paymentRequestOrigin ?? event.topOrigin].map((origin) =>
    origin.replace(/\/$/, ""),
  );
  return {
    method: entry?.supportedMethods ?? method,
    site: asks,
    ...(asks !== top && { inside: top }), // a frame of another site asks
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
  entry.pages.forEach((page) => page.postMessage({ type: "over" }));
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
