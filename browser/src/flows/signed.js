/**
 * Remembers what was signed for an account and not seen mined, so that at most one such operation can take effect.
 *
 * Whoever received a signed operation can have it mined later, even after refusing it. Two operations with the same
 * nonce exclude each other, so until the outcome is known, every further operation gets the same nonce.
 */

import { OperationFailed } from "../chain/errors.js";
import { VaultStore } from "../vault/store.js";

/** ERC-4337: the upper 192 bits of a nonce are its key. Only nonces of the same key exclude each other. */
const NONCES = 2n ** 64n;

/**
 * @typedef {import("../generated/types.js").UserOp} UserOp
 * @typedef {{nonce: string, calls: Record<string, string>}} Signed `calls`: the call data of each operation, by its hash
 */

/** The open operations of one account. */
export class SignedOperations {
  #dbName;
  #name;
  #next = 0n;

  /**
   * @param {string} dbName of the vault's store
   * @param {string} place the account, its chain and its entry point
   */
  constructor(dbName, place) {
    this.#dbName = dbName;
    this.#name = `signed:${place.toLowerCase()}`;
  }

  /**
   * Returns the nonce for the next operation, which is that of an open operation if there is one.
   *
   * @param {string} told the nonce in the account's state
   * @param {string} callData
   * @param {(hash: string) => Promise<{reverted: boolean} | null>} outcome asks for an operation's receipt
   * @throws {OperationFailed} an earlier operation of unknown outcome was mined: with the same call, or possibly with it
   */
  async nonce(told, callData, outcome) {
    const now = BigInt(told);
    if (now >= NONCES)
      throw new OperationFailed(
        "the account's nonce has another key than 0: two signed operations could both be mined",
      );
    const open = await this.#open();
    if (!open) return now > this.#next ? now : this.#next;
    const nonce = BigInt(open.nonce);
    for (const [hash, call] of Object.entries(open.calls)) {
      const found = await outcome(hash);
      if (!found) continue;
      await this.mined(hash);
      if (!found.reverted && call === callData)
        throw because("mined", `an earlier operation (${hash}) with the same call has been mined meanwhile`);
      return now > nonce ? now : nonce + 1n;
    }
    if (now > nonce) await this.giveUp();
    return nonce;
  }

  /**
   * Forgets an open operation whose nonce is of no use any more.
   *
   * @throws {OperationFailed} there was one: it may have been mined, although there is no receipt
   */
  async giveUp() {
    const open = await this.#open();
    if (!open) return;
    await this.#write(null);
    throw because(
      "unknown",
      `an earlier operation (${Object.keys(open.calls)}) may have been mined, although there is no receipt: its nonce is not accepted. Look at what the account has done before you try again`,
    );
  }

  /**
   * Records an operation before it is sent.
   *
   * @param {UserOp} operation
   * @param {string} hash
   */
  async note({ nonce, callData }, hash) {
    const open = await this.#open();
    await this.#write({ nonce, calls: { ...(open?.nonce === nonce && open.calls), [hash]: callData } });
  }

  /** Records that an operation was mined, which rules out the others with its nonce. @param {string} hash */
  async mined(hash) {
    const open = await this.#open();
    if (!open?.calls[hash]) return;
    this.#next = BigInt(open.nonce) + 1n;
    await this.#write(null);
  }

  /** @returns {Promise<Signed | null>} */
  #open() {
    return this.#stored((store) => store.note(this.#name));
  }

  /** @param {Signed | null} signed */
  #write(signed) {
    return this.#stored((store) => store.setNote(this.#name, signed));
  }

  /**
   * @template T
   * @param {(store: VaultStore) => Promise<T>} work
   */
  async #stored(work) {
    const store = new VaultStore({ dbName: this.#dbName });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }
}

/** @param {"mined" | "unknown"} earlier @param {string} message */
function because(earlier, message) {
  return Object.assign(new OperationFailed(message), { earlier });
}
