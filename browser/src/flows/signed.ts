/**
 * Remembers what was signed for an account and not seen mined, so that at most one such operation can take effect.
 *
 * Whoever received a signed operation can have it mined later, even after refusing it. Two operations with the same
 * nonce exclude each other, so until the outcome is known, every further operation gets the same nonce.
 */

import { hex } from "../chain/abi.ts";
import { OperationFailed } from "../chain/errors.ts";
import { eachFee, type Fees, higherFees, NO_FEES } from "../chain/fees.ts";
import { REPLACED, REPLACING } from "../generated/operation_retries.ts";
import type { UserOp } from "../generated/types.ts";
import { withStore } from "../vault/store.ts";
import type { Vault } from "../vault/vault.ts";

const [MORE, OF] = REPLACING.map(BigInt);
/** ERC-4337: the upper 192 bits of a nonce are its key. Only nonces of the same key exclude each other. */
export const NONCES = 2n ** 64n;

/** `calls`: the call data of each operation, by its hash; `fees`: the highest of them */
type Signed = { nonce: string; calls: Record<string, string>; fees?: Fees };

/** what is noted about one account */
type Notes = { signed: Signed; replaced: string[]; next: string };

/** The open operations of one account. */
export class SignedOperations {
  #dbName;
  #slot;

  /** @param slot the account, its chain, its entry point, and what its nonces' key is for */
  constructor(vault: Vault, slot: string) {
    this.#dbName = vault.dbName;
    this.#slot = slot.toLowerCase();
  }

  /**
   * Returns the nonce for the next operation, which is that of an open operation if there is one.
   * @param reported the nonce in the account's state
   * @param outcome asks for an operation's receipt
   * @throws {OperationFailed} an earlier operation of unknown outcome was mined: with the same call, or possibly with
   *   it
   */
  async nonce(reported: string, callData: string, outcome: (hash: string) => Promise<{ reverted: boolean } | null>) {
    const now = BigInt(reported);
    if (now >= NONCES)
      throw new OperationFailed(
        "the account's nonce has another key than 0: two signed operations could both be mined",
      );
    const open = await this.#open();
    if (!open) {
      // After that of the last operation that was seen mined: the service's state may be older.
      const next = BigInt((await this.#noted("next")) ?? 0);
      return now > next ? now : next;
    }
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
   * @throws {OperationFailed} there was one: it may have been mined, although there is no receipt
   */
  async giveUp() {
    const open = await this.#open();
    if (!open) return;
    await this.#write("signed", null);
    throw because(
      "unknown",
      `an earlier operation (${Object.keys(open.calls).join(", ")}) may have been mined, although there is no receipt: its nonce is not accepted. Look at what the account has done before you try again`,
    );
  }

  /**
   * Returns what the next operation must offer so that bundlers replace the open one by it.
   * @returns zeros if it replaces nothing
   */
  async leastFees(): Promise<Fees> {
    const open = await this.#open();
    if (!open?.fees) return NO_FEES;
    return eachFee(open.fees, NO_FEES, (fee) => (fee * MORE + OF - 1n) / OF);
  }

  /** Records an operation before it is sent. */
  async note(operation: UserOp, hash: string) {
    const { callData } = operation;
    const nonce = hex(BigInt(operation.nonce) % NONCES); // the place determines its key
    const open = await this.#open();
    const same = open?.nonce === nonce ? open : null;
    const fees = higherFees(operation, same?.fees ?? NO_FEES);
    await this.#write("signed", { nonce, calls: { ...same?.calls, [hash]: callData }, fees });
  }

  /** Records that an operation was mined, which rules out the others with its nonce. */
  async mined(hash: string) {
    const open = await this.#open();
    if (!open?.calls[hash]) return;
    await this.#write("next", String(BigInt(open.nonce) + 1n));
    const others = Object.keys(open.calls).filter((it) => it !== hash);
    const added = (before: string[] | null) => [...(before ?? []), ...others].slice(-REPLACED);
    if (others.length) await withStore((store) => store.changeNote(`replaced:${this.#slot}`, added), this.#dbName);
    await this.#write("signed", null);
  }

  /**
   * Returns what has become of the operations that were signed, by their hashes.
   * @param outcome asks for an operation's receipt
   * @returns `open`: not mined, can be replaced at a higher fee; `replaced`: can never be mined, because another one
   *   with their nonce was
   */
  async fates(outcome: (hash: string) => Promise<unknown>): Promise<{ open: string[]; replaced: string[] }> {
    const signed = Object.keys((await this.#open())?.calls ?? {});
    for (const hash of signed) if (await outcome(hash)) await this.mined(hash);
    const open = Object.keys((await this.#open())?.calls ?? {});
    return { open, replaced: (await this.#noted("replaced")) ?? [] };
  }

  /** Drops the next nonce, because it was refused: another device has used it, or the chain is a new one. */
  forgetNext() {
    return this.#write("next", null);
  }

  #open(): Promise<Signed | null> {
    return this.#noted("signed");
  }

  #noted<Kind extends keyof Notes>(kind: Kind): Promise<Notes[Kind] | null> {
    return withStore((store) => store.note(`${kind}:${this.#slot}`), this.#dbName);
  }

  #write(kind: "signed" | "next", noted: Signed | string | null) {
    return withStore((store) => store.setNote(`${kind}:${this.#slot}`, noted), this.#dbName);
  }
}

function because(earlier: "mined" | "unknown", message: string) {
  return Object.assign(new OperationFailed(message), { earlier });
}
