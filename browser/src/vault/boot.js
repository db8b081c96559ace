/** Records which subsystems are ready, and dispatches events while they start (interface section "Boot / worker"). */

/**
 * @typedef {import("../generated/types.js").BootStatus} BootStatus
 * @typedef {import("../generated/types.js").BootEvent} BootEvent
 * @typedef {BootEvent["subsystem"]} Subsystem
 */

/** The state of each subsystem. */
export class BootLog {
  #ready = { enclave: false, helia: false, libp2p: false };
  #ended = false;
  #onEvent;

  /** @param {(event: BootEvent) => void} onEvent */
  constructor(onEvent) {
    this.#onEvent = onEvent;
  }

  /** @returns {BootStatus} */
  get status() {
    const { enclave, helia, libp2p } = this.#ready;
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
      this.#ready[subsystem] = false;
      this.#tell(subsystem, "failed", error instanceof Error ? error.message : String(error));
      throw error;
    }
    this.#ready[subsystem] = !this.#ended;
    this.#tell(subsystem, "ready");
  }

  /**
   * Reports that a subsystem has failed or, if the error is null, that it works again. Repeated reports have no effect.
   *
   * @param {Subsystem} subsystem
   * @param {string | null} error
   */
  report(subsystem, error) {
    if (this.#ended || this.#ready[subsystem] === (error === null)) return;
    this.#ready[subsystem] = error === null;
    if (error === null) this.#tell(subsystem, "booting");
    this.#tell(subsystem, error === null ? "ready" : "failed", error ?? undefined);
  }

  /** Marks all subsystems as not ready. */
  ended() {
    this.#ended = true;
    this.#ready = { enclave: false, helia: false, libp2p: false };
  }

  /**
   * @param {Subsystem} subsystem
   * @param {BootEvent["status"]} status
   * @param {string} [error]
   */
  #tell(subsystem, status, error) {
    if (this.#ended) return;
    this.#onEvent({ type: "boot-progress", subsystem, status, ...(error !== undefined && { error }) });
  }
}
