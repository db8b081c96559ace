/** Connects to the payment worker, which is the page's only way to respond to the shop. */

import { FOR_SHOPS } from "./texts.js";

/**
 * @typedef {import("./request.js").Asked} Asked
 * @typedef {import("../generated/types.js").PaymentResult} PaymentResult
 */

/** One payment request. It is answered once. */
export class Shop {
  #id;
  #answered = false;

  /**
   * @param {string} id of the payment request
   * @param {{onRequest: (asked: Asked) => void, onOver: () => void}} told `onOver`: the request was ended by the other side
   */
  constructor(id, { onRequest, onOver }) {
    this.#id = id;
    navigator.serviceWorker.addEventListener("message", ({ data }) => {
      if (data?.type === "request") onRequest(data.request);
      if (data?.type === "over" && !this.#answered) onOver();
    });
    navigator.serviceWorker.startMessages();
    this.#send({ type: "ready" });
  }

  /** Reports that the payment is about to be sent, so that the shop waits for the chain from then on. */
  handingOver() {
    this.#send({ type: "handing over" });
  }

  /** @param {PaymentResult} result */
  paid(result) {
    this.#answered = true;
    this.#send({ type: "paid", result });
  }

  /** @param {string} code */
  refused(code) {
    this.#answered = true;
    const error = Object.hasOwn(FOR_SHOPS, code) ? code : "internal";
    this.#send({ type: "refused", refusal: { error, message: FOR_SHOPS[error], cancelled: error === "user_cancelled" } });
  }

  /** @param {object} message */
  #send(message) {
    navigator.serviceWorker.controller?.postMessage({ ...message, request: this.#id });
  }
}
