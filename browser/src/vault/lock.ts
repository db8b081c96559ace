/**
 * Lets only one tab at a time open a vault, using Web Locks between the workers of an origin. Another tab can take the
 * vault over.
 */

const GIVES_UP_WITHIN_MS = 2000;

/** The lock that this worker holds on at most one vault at a time. */
export class VaultLock {
  #held: { did: string; release: () => void } | null = null;
  #released: Promise<unknown> = Promise.resolve();
  #channel;
  #prefix;
  #onTaken;

  /**
   * @param handlers `onRequested`: another tab requests the vault: lock it and release the lock; `onTaken`: the other
   *   tab took the lock without waiting
   */
  constructor(
    dbName: string,
    { onRequested, onTaken }: { onRequested: (why: string) => Promise<void>; onTaken: () => void },
  ) {
    this.#prefix = `hf-vault:${dbName}:`;
    this.#onTaken = onTaken;
    this.#channel = new BroadcastChannel(`hf-vault:${dbName}`);
    this.#channel.onmessage = ({ data }: MessageEvent<{ did?: unknown; why?: unknown } | null>) => {
      if (this.#held && data?.did === this.#held.did) void onRequested(typeof data.why === "string" ? data.why : "");
    };
  }

  /** The DID of the vault whose lock this worker holds, or null. */
  get did() {
    return this.#held?.did ?? null;
  }

  /**
   * Acquires the lock on a vault, and releases the lock held on any other vault.
   *
   * @param takeOver take the vault from another tab, which locks it or loses it; as a text: what the other tab is
   *   told as the reason
   * @returns whether this worker holds it now
   */
  async acquire(did: string, takeOver: boolean | string | null = false): Promise<boolean> {
    if (this.#held?.did === did) return true;
    this.release();
    await this.#released; // the browser releases the lock a moment later
    if (await this.#request(did, { ifAvailable: true })) return true;
    if (!takeOver) return false;
    this.#channel.postMessage({ did, why: takeOver === true ? "" : takeOver });
    const waited = await this.#request(did, { signal: AbortSignal.timeout(GIVES_UP_WITHIN_MS) });
    return waited || this.#request(did, { steal: true });
  }

  /** Releases the lock. Repeated calls have no effect. */
  release() {
    this.#held?.release();
    this.#held = null;
  }

  #request(did: string, options: LockOptions): Promise<boolean> {
    return new Promise((resolve) => {
      const held = navigator.locks.request(this.#prefix + did, options, (lock) => {
        resolve(lock !== null);
        return lock && new Promise((release) => (this.#held = { did, release: () => release(null) }));
      });
      this.#released = held.catch(() => this.#lost(did, resolve));
    });
  }

  #lost(did: string, resolve: (held: boolean) => void) {
    resolve(false); // the wait timed out; after `resolve(true)` this has no effect
    if (this.#held?.did !== did) return;
    this.#held = null;
    this.#onTaken();
  }
}
