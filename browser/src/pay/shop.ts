/** Connects to the payment worker, which is the page's only way to respond to the shop. */

import type { PaymentResult } from "../generated/types.ts";
import { forShops } from "./for_shops.ts";
import type { PaymentMessage } from "./request.ts";

/** How long the worker may take to say whether the shop still waits; the browser may have to start it again. */
const ANSWERS_WITHIN_MS = 10_000;
/** Refusal codes that are reported to shops under a different name. */
const RENAMED: Record<string, string> = {
  insufficient_fee: "insufficient_balance",
  chain_failed: "chain_rejected",
};

type FromWorker = { type: "request"; request: PaymentMessage } | { type: "go" | "over" };

/** One payment request. It is answered once. */
export class Shop {
  #id;
  #answered = false;
  /** who asked whether the shop still waits */
  #asker: ((isWaiting: boolean) => void) | null = null;

  /**
   * @param id of the payment request
   * @param handlers `onOver`: the request was ended by the other side
   */
  constructor(id: string, { onRequest, onOver }: { onRequest: (message: PaymentMessage) => void; onOver: () => void }) {
    this.#id = id;
    navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<FromWorker | null>) => {
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
   * @returns false if the request is over or the worker does not respond: then nothing may be signed
   */
  isWaiting(): Promise<boolean> {
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

  paid(result: PaymentResult) {
    this.#answered = true;
    this.#send({ type: "paid", result });
  }

  refused(code: string) {
    this.#answered = true;
    const { error, message } = forShops(RENAMED[code] ?? code);
    this.#send({ type: "refused", refusal: { error, message, cancelled: error === "user_cancelled" } });
  }

  /** @returns whether the page had asked */
  #report(isWaiting: boolean): boolean {
    const asker = this.#asker;
    this.#asker = null;
    asker?.(isWaiting);
    return asker !== null;
  }

  #send(message: object) {
    navigator.serviceWorker.controller?.postMessage({ ...message, request: this.#id });
  }
}
