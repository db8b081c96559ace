/** Records which subsystems are ready, and dispatches events while they start (interface section "Boot / worker"). */

/**
 * @typedef {import("../generated/types.js").BootStatus} BootStatus
 * @typedef {import("../generated/types.js").BootEvent} BootEvent
 * @typedef {BootEvent["subsystem"]} Subsystem
 */

const SUBSYSTEMS = /** @type {const} */ (["enclave", "helia", "libp2p"]);

/** The state of each subsystem. */
export class BootLog {
  /** @type {Partial<Record<Subsystem, BootEvent["status"]>>} */
  #now = {};
  #ended = false;
  #onEvent;

  /** @param {(event: BootEvent) => void} onEvent */
  constructor(onEvent) {
    this.#onEvent = onEvent;
  }

  /** @returns {BootStatus} */
  get status() {
    const [enclave, helia, libp2p] = SUBSYSTEMS.map((it) => this.#now[it] === "ready");
    return { enclave, helia, libp2p, ready: enclave && helia && libp2p };
  }

  /**
   * Starts one subsystem and reports whether it succeeded.
   *
   * @param {Subsystem} subsystem
   * @param {() => Promise<unknown>} start
   */
  async starting(subsystem, start) {
    this.#tell(subsystem, "booting");
    try {
      await start();
    } catch (error) {
      this.report(subsystem, error instanceof Error ? error.message : String(error));
      throw error;
    }
    if (this.#now[subsystem] === "booting") this.#tell(subsystem, "ready");
  }

  /**
   * Reports that a subsystem has failed or, if the error is null, that it works again. Other reports have no effect.
   *
   * @param {Subsystem} subsystem
   * @param {string | null} error
   */
  report(subsystem, error) {
    const hasFailed = this.#now[subsystem] === "failed";
    if (!this.#now[subsystem] || hasFailed === (error !== null)) return;
    if (error !== null) return this.#tell(subsystem, "failed", error);
    this.#tell(subsystem, "booting");
    this.#tell(subsystem, "ready");
  }

  /** Marks all subsystems as not ready. */
  ended() {
    this.#ended = true;
    this.#now = {};
  }

  /**
   * @param {Subsystem} subsystem
   * @param {BootEvent["status"]} status
   * @param {string} [error]
   */
  #tell(subsystem, status, error) {
    if (this.#ended) return;
    this.#now[subsystem] = status;
    this.#onEvent({ type: "boot-progress", subsystem, status, ...(error !== undefined && { error }) });
  }
}
