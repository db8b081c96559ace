/** Uploads snapshots automatically: a few seconds after the last change, and at growing intervals after failures. */

import { FINAL, FIRST_MS, LONGEST_MS, LONGEST_QUIET_MS, MOST_USES } from "../generated/snapshot_retries.ts";
import { RequestRefused } from "../errors.ts";

/** Publishes after changes. After an error that no retry can resolve, waits for the next change. */
export class AutomaticSnapshots {
  #publish;
  #quietMs;
  #uses;
  #changedAt = 0;
  #failures = 0;
  #timer = 0;
  #running: Promise<void> | null = null;
  #closed = false;

  /**
   * @param publish one attempt
   * @param uses how often uploads have used the vault so far
   */
  constructor(publish: () => Promise<unknown>, quietMs: number, uses: () => number = () => 0) {
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

  #after(ms: number) {
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

/** Whether a retry would fail in the same way, for example while the vault is closed or locked. */
function isLasting(error: unknown) {
  const status = error instanceof RequestRefused ? String(error.status) : "";
  return error instanceof Error && (FINAL.includes(error.name) || FINAL.includes(status));
}
