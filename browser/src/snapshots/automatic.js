/** Uploads snapshots automatically: a few seconds after the last change, and at growing intervals after failures. */

import { FINAL, FIRST_MS, LONGEST_MS, LONGEST_QUIET_MS, MOST_USES } from "../generated/snapshot_retries.js";
import { RequestRefused } from "../errors.js";

/** Publishes after changes. After an error that no retry can resolve, waits for the next change. */
export class AutomaticSnapshots {
  #publish;
  #quietMs;
  #uses;
  #changedAt = 0;
  #failures = 0;
  #timer = 0;
  /** @type {Promise<void> | null} */
  #running = null;
  #closed = false;

  /**
   * @param {() => Promise<unknown>} publish one attempt
   * @param {number} quietMs
   * @param {() => number} [uses] how often uploads have used the vault so far
   */
  constructor(publish, quietMs, uses = () => 0) {
    this.#publish = publish;
    this.#quietMs = quietMs;
    this.#uses = uses;
  }

  /** Schedules an upload, because the vault has a new revision or may have one. */
  changed() {
    const now = performance.now(); // the clock may be set meanwhile
    this.#changedAt ||= now;
    // Continual changes must not postpone the upload forever.
    this.#after(Math.max(0, Math.min(this.#quietMs, this.#changedAt + LONGEST_QUIET_MS - now)));
  }

  /** Makes a scheduled attempt now, for example because the network is back. */
  hurry() {
    if (this.#timer) this.#after(0);
  }

  /** Stops. A revision that has not been uploaded yet is uploaded next time. */
  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** @param {number} ms */
  #after(ms) {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = Number(setTimeout(() => void this.#due(), ms));
  }

  async #due() {
    this.#timer = 0;
    await this.#running; // a change during an attempt is uploaded after it
    if (this.#timer || this.#closed) return;
    this.#changedAt = 0;
    this.#running = this.#attempt();
    await this.#running;
  }

  async #attempt() {
    const before = this.#uses();
    try {
      await this.#publish();
      this.#failures = 0;
    } catch (error) {
      const used = error instanceof RequestRefused || this.#uses() !== before;
      const weary = used && this.#failures >= MOST_USES;
      this.#failures = isLasting(error) || weary ? 0 : this.#failures + 1;
      if (this.#failures && !this.#timer) this.#after(Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#failures - 1)));
    }
  }
}

/**
 * Whether a retry would fail in the same way, for example while the vault is closed or locked.
 * @param {unknown} error
 */
function isLasting(error) {
  const status = error instanceof RequestRefused ? String(error.status) : "";
  return error instanceof Error && (FINAL.includes(error.name) || FINAL.includes(status));
}
