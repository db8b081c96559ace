/** The pairing protocol over any channel that sends a message and returns the reply (docs/pairing.md). */

import { PluginCallError, ServiceError } from "../errors.ts";
import type { SyncCompleteResult } from "../generated/types.ts";
import type { VaultKey } from "../passkeys/secrets.ts";
import type { Vault } from "../vault/vault.ts";
import type { Message } from "./frames.ts";

const REFUSED = { error: "refused" };

/** The pairing failed: the digits differ, a message was late, repeated or changed, or the other device refused. */
export class SyncRefused extends ServiceError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SyncRefused";
  }
}

/** One pairing on the device that holds the vault. */
export class PairingServer {
  #vault;
  #askDigits;
  #published;
  #session: string | null = null;
  #answered = new Set();
  #busy = false;
  /** Whether the pairing is over. */
  finished = false;
  /** Whether the vault was sent. */
  released = false;

  /**
   * @param vault it is open
   * @param askDigits gets this device's six digits, and returns those that the person reads on the other device; ""
   *   refuses
   * @param published returns the last snapshot's record, from which the other device continues: `publishedRecord` of
   *   the client's snapshots
   */
  constructor(
    vault: Vault,
    askDigits: (digits: string) => Promise<string>,
    published: () => Promise<string | null> = async () => null,
  ) {
    this.#vault = vault;
    this.#askDigits = askDigits;
    this.#published = published;
  }

  /** Returns the reply to one message. Never throws, even if the message is malformed or hostile. */
  async handle(message: Message): Promise<Message> {
    if (this.#busy) return REFUSED;
    this.#busy = true;
    try {
      return await this.#answer(message);
    } catch (error) {
      if (!(error instanceof PluginCallError) && !(error instanceof SyncRefused)) throw error;
      this.finished = this.#session !== null; // anyone can send a message, but only a pairing that has begun can end
      return REFUSED;
    } finally {
      this.#busy = false;
    }
  }

  async #answer(message: Message) {
    const [step, session] = [given(message.step), given(message.session_id)];
    // Each step is accepted only once and only from one session; a repeated message, or one from another session, ends
    // the pairing.
    if (this.finished || this.#answered.has(step) || (this.#session ?? session) !== session)
      throw new SyncRefused("the message is out of turn");
    if (step === "hello") {
      const { public_key } = good(await this.#vault.syncRespond(session, { publicKey: given(message.public_key) }));
      this.#session = session;
      this.#answered.add(step);
      return { public_key };
    }
    if (step === "reveal" && this.#session !== null) {
      this.#answered.add(step);
      return this.#release(session, given(message.reveal));
    }
    throw new SyncRefused("the message is out of turn");
  }

  async #release(session: string, reveal: string) {
    const { code } = good(await this.#vault.syncCompare(session, { reveal }));
    const typed = (await this.#askDigits(given(code))).trim();
    if (!typed) throw new SyncRefused("the person refused");
    // Read the record before the vault is sealed, because a later snapshot may contain changes that the sent vault
    // lacks.
    const record = await this.#published();
    const { encrypted_vault, sealed_vault } = good(await this.#vault.syncRespond(session, { code: typed }));
    this.finished = this.released = true;
    return { encrypted_vault, sealed_vault, ...(record && { record }) };
  }
}

/**
 * Receives the vault on the new device, wraps it for `key` and stores it. The vault is open afterwards.
 * @param vault booted, without a vault
 * @param ask sends a message to the device that holds the vault and returns the reply
 * @param key opens the vault on this device from now on
 * @param compare shows the six digits, and asks the person whether the other device shows the same
 * @param continueFrom gets the last snapshot's record: `continueFrom` of the client's snapshots
 * @param where `replace`: replaces a stored vault of the same DID
 * @throws {SyncRefused} nothing is stored
 */
export async function receive(
  vault: Vault,
  ask: (message: Message) => Promise<Message>,
  key: VaultKey,
  compare: (digits: string) => Promise<boolean>,
  continueFrom: (record: unknown) => Promise<void> = async () => {},
  where: { replace?: boolean } = {},
): Promise<SyncCompleteResult> {
  try {
    const { session_id: session, public_key } = good(await vault.syncInit());
    const sessionId = given(session);
    const hello = await ask({ step: "hello", session_id: sessionId, public_key });
    const { code, reveal } = good(await vault.syncCompare(sessionId, { publicKey: given(hello.public_key) }));
    const digits = given(code);
    // Both devices ask for confirmation at the same time, and both people must confirm.
    const [last, same] = await Promise.all([ask({ step: "reveal", session_id: sessionId, reveal }), compare(digits)]);
    if (!same) throw new SyncRefused("the digits differ");
    const encryptedVault = given(last.encrypted_vault);
    const sealedVault = "sealed_vault" in last ? given(last.sealed_vault) : ""; // earlier releases do not send it
    const done = good(await vault.syncComplete({ sessionId, code: digits, encryptedVault, sealedVault }, key, where));
    await continueFrom(last.record);
    return done;
  } catch (error) {
    if (!(error instanceof PluginCallError)) throw error;
    throw new SyncRefused(`the pairing ended (${error.code})`, { cause: error });
  }
}

function given(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new SyncRefused("the other side refused");
  return value;
}

function good<T extends { success: boolean; error?: string }>(answer: T) {
  if (!answer.success) throw new SyncRefused(`the pairing ended (${answer.error})`);
  return answer;
}
