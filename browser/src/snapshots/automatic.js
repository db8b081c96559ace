/** Snapshots go up by themselves: some seconds after the last change, and again after a failure, later each time. */

import { SnapshotConflict, SnapshotRolledBack } from "./errors.js";
import { ClientStateError, RequestRefused } from "./library.js";

/** Not registered there, or no snapshots are kept there. */
const LASTING = new Set([403, 404, 405]);
const LONGEST_QUIET_MS = 30_000;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 900_000;
/** After so many refusals it waits for the next change: each attempt uses the vault, which else would never lock itself. */
const MOST_REFUSALS = 6;

/** Publishes after changes. What would end the same again waits for the next change: a person has to act first. */
export class AutomaticSnapshots {
  #publish;
  #quietMs;
  #changedAt = 0;
  #failures = 0;
  #timer = 0;
  /** @type {Promise<void> | null} */
  #running = null;
  #closed = false;

  /**
   * @param {() => Promise<unknown>} publish one attempt
   * @param {number} quietMs
   */
  constructor(publish, quietMs) {
    this.#publish = publish;
    this.#quietMs = quietMs;
  }

  /** The vault has a new revision, or there may be something to bring up. */
  changed() {
    const now = Date.now();
    this.#changedAt ||= now;
    // Changes without end do not put the upload off without end.
    this.#after(Math.max(0, Math.min(this.#quietMs, this.#changedAt + LONGEST_QUIET_MS - now)));
  }

  /** Attempts now what waits for its time, such as after the network came back. */
  hurry() {
    if (this.#timer) this.#after(0);
  }

  /** Ends it. What is due goes up the next time. */
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
    await this.#running; // a change during an attempt follows it
    if (this.#timer || this.#closed) return;
    this.#changedAt = 0;
    this.#running = this.#attempt();
    await this.#running;
  }

  async #attempt() {
    try {
      await this.#publish();
      this.#failures = 0;
    } catch (error) {
      const weary = error instanceof RequestRefused && this.#failures >= MOST_REFUSALS;
      this.#failures = isLasting(error) || weary ? 0 : this.#failures + 1;
      if (this.#failures && !this.#timer) this.#after(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1)));
    }
  }
}

/**
 * Whether the same attempt would end the same. A vault that is closed or locked has nothing to do now.
 *
 * @param {unknown} error
 */
function isLasting(error) {
  const refused = error instanceof RequestRefused && LASTING.has(error.status);
  return refused || error instanceof ClientStateError || error instanceof SnapshotConflict || error instanceof SnapshotRolledBack;
}
