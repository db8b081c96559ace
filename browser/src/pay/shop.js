/** Connects to the payment worker, which is the page's only way to respond to the shop. */

import { forShops } from "./for_shops.js";

/** How long the worker may take to say whether the shop still waits; the browser may have to start it again. */
const ANSWERS_WITHIN_MS = 10_000;
/** Refusal codes that are reported to shops under a different name. */
const RENAMED = /** @type {Record<string, string>} */ ({
  insufficient_fee: "insufficient_balance",
  chain_failed: "chain_rejected",
});

/**
 * @typedef {import("./request.js").PaymentMessage} PaymentMessage
 * @typedef {import("../generated/types.js").PaymentResult} PaymentResult
 */

/** One payment request. It is answered once. */
export class Shop {
  #id;
  #answered = false;
  /** @type {((isWaiting: boolean) => void) | null} who asked whether the shop still waits */
  #asker = null;

  /**
   * @param {string} id of the payment request
   * @param {{onRequest: (message: PaymentMessage) => void, onOver: () => void}} handlers `onOver`: the request was ended by the other side
   */
  constructor(id, { onRequest, onOver }) {
    this.#id = id;
    navigator.serviceWorker.addEventListener("message", ({ data }) => {
      if (data?.type === "request") onRequest(data.request);
      if (data?.type === "go") this.#report(true);
      if (data?.type === "over" && !this.#report(false) && !this.#answered) onOver();
    });
    navigator.serviceWorker.startMessages();
    this.#send({ type: "ready" });
  }

  /**
   * Reports that the payment is about to be signed, so that the shop waits for the chain from then on.
   *
   * @returns {Promise<boolean>} false if the request is over or the worker does not respond: then nothing may be signed
   */
  isWaiting() {
    return new Promise((resolve) => {
      this.#asker = resolve;
      setTimeout(() => this.#report(false), ANSWERS_WITHIN_MS);
      this.#send({ type: "handing over" });
    });
  }

  /** Reports that nothing was signed after all, and that the person is asked again. */
  asksAgain() {
    this.#send({ type: "asking again" });
  }

  /** @param {PaymentResult} result */
  paid(result) {
    this.#answered = true;
    this.#send({ type: "paid", result });
  }

  /** @param {string} code */
  refused(code) {
    this.#answered = true;
    const { error, message } = forShops(RENAMED[code] ?? code);
    this.#send({ type: "refused", refusal: { error, message, cancelled: error === "user_cancelled" } });
  }

  /** @param {boolean} isWaiting @returns {boolean} whether the page had asked */
  #report(isWaiting) {
    const asker = this.#asker;
    this.#asker = null;
    asker?.(isWaiting);
    return asker !== null;
  }

  /** @param {object} message */
  #send(message) {
    navigator.serviceWorker.controller?.postMessage({ ...message, request: this.#id });
  }
}
