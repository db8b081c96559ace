/** Runs the payment handler's worker in Node: shops ask it, and the payment window's pages send it messages. */

import { readFileSync } from "node:fs";

const SOURCE = readFileSync(new URL("../../src/holdfast/service/static/pay/sw.js", import.meta.url), "utf8");
const ORIGIN = "https://vault.example";
const CONFIRM_PAGE = `${ORIGIN}/pay/confirm`;
const ID = "order 1"; // a shop that uses the number of its order for two requests

/** Timers that run only when the test says that their time has come. */
class Timers {
  waiting = new Map();

  start = (run, ms) => this.waiting.set((this.last = (this.last ?? 0) + 1), { run, ms }) && this.last;
  stop = (timer) => this.waiting.delete(timer);

  pass(ms) {
    for (const [timer, { run, ms: after }] of [...this.waiting]) if (after <= ms && this.waiting.delete(timer)) run();
  }
}

/** A fake service worker that receives shops' payment requests and pages' messages. */
export class PaymentWorker {
  handlers = {};
  sent = [];
  timers = new Timers();

  constructor() {
    const worker = {
      addEventListener: (name, handler) => (this.handlers[name] = handler),
      location: { origin: ORIGIN },
    };
    const { start, stop } = this.timers;
    new Function("self", "setTimeout", "clearTimeout", SOURCE)(worker, start, stop);
  }

  /** Asks as a shop in a frame does, with another handler's data before this handler's. */
  asked(data) {
    const asked = {};
    const method = (supportedMethods, given) => ({ supportedMethods, data: given });
    this.handlers.paymentrequest({
      paymentRequestId: ID,
      topOrigin: "https://shop.example/",
      paymentRequestOrigin: "https://frame.example",
      total: { currency: "USD", value: "1.00" },
      methodData: [method("https://elsewhere.example/pay", { to: "not ours" }), method(`${ORIGIN}/pay`, data)],
      openWindow: async (address) => ((asked.id = new URL(address, ORIGIN).searchParams.get("request")), {}),
      respondWith: (answer) =>
        answer.then(
          (it) => (asked.answer = it),
          ({ name }) => (asked.refused = name),
        ),
    });
    return asked;
  }

  /** Sends a message of a page about a request. */
  hears({ id: request }, type, { page = 1, url = CONFIRM_PAGE, ...more } = {}) {
    const postMessage = (message) => this.sent.push({ ...message, heardBy: page });
    this.handlers.message({ data: { request, type, ...more }, source: { id: page, url, postMessage } });
  }

  /** Withdraws the shop's requests; returns whether the worker agreed. */
  withdrawn() {
    let agreed;
    this.handlers.abortpayment({ respondWith: (answer) => (agreed = answer) });
    return agreed;
  }

  /** What each page was told, as [page, type]. */
  get told() {
    return this.sent.map(({ heardBy, type }) => [heardBy, type]);
  }
}
