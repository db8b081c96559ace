/** Records which subsystems are ready, and dispatches events while they start (interface section "Boot / worker"). */

import type { BootEvent, BootStatus } from "../generated/types.ts";

type Subsystem = BootEvent["subsystem"];

const SUBSYSTEMS = ["enclave", "helia", "libp2p"] as const;

/** The state of each subsystem. */
export class BootLog {
  #now: Partial<Record<Subsystem, BootEvent["status"]>> = {};
  #ended = false;
  #onEvent;

  constructor(onEvent: (event: BootEvent) => void) {
    this.#onEvent = onEvent;
  }

  get status(): BootStatus {
    const [enclave, helia, libp2p] = SUBSYSTEMS.map((it) => this.#now[it] === "ready");
    return { enclave, helia, libp2p, ready: enclave && helia && libp2p };
  }

  /** Starts one subsystem and reports whether it succeeded. */
  async starting(subsystem: Subsystem, start: () => Promise<unknown>) {
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
   */
  report(subsystem: Subsystem, error: string | null) {
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

  #tell(subsystem: Subsystem, status: BootEvent["status"], error?: string) {
    if (this.#ended) return;
    this.#now[subsystem] = status;
    this.#onEvent({ type: "boot-progress", subsystem, status, ...(error !== undefined && { error }) });
  }
}
