/**
 * Registers a vault on the chain, if the service has a bundler. Registering a handle may require a commitment first.
 */

import { AccountNotFunded, GasTooDear, OperationFailed, isStale, revertOf } from "../chain/errors.ts";
import { canonicalHandle, textHash } from "../chain/names.ts";
import { CLAIM_ATTEMPTS, RECEIPT_AGAIN_MS } from "../generated/operation_retries.ts";
import { RegistrationRefused, insteadOf } from "../errors.ts";
import { withStore } from "../vault/store.ts";
import type { Vault } from "../vault/vault.ts";
import type { SmartAccount } from "./account.ts";
import type { RegistrationStep } from "./register.ts";
import type { Registered } from "./signature.ts";

/** the state from which an interrupted registration continues; it contains no secret */
interface Row extends Registered {
  sessionRequested?: boolean;
  /** of the user operation that posted the commitment */ commitmentOperation?: string;
  /** of the user operation that registers */ operationHash?: string;
}

/** Selectors of the registry's errors: NotCommitted(bytes32), CommitmentExpired and CommitmentTooNew(bytes32,uint256). */
const [NOT_COMMITTED, EXPIRED, TOO_NEW] = ["4ebe8a4d", "8c68b006", "5b9f9ba2"];

/** The state of one registration in the vault's database. */
export class Journal {
  declare row: Row;

  #dbName;
  #name;

  constructor(dbName: string | undefined, row: Row) {
    this.#dbName = dbName;
    this.#name = `registration:${row.did}`;
    this.row = row;
  }

  /** Opens the stored state for one DID, which is empty unless there was an earlier attempt. */
  static async open(
    dbName: string | undefined,
    did: string,
    { identifier, channel }: { identifier: string; channel: string },
  ) {
    const journal = new Journal(dbName, { did, identifier, channel });
    const noted = await withStore((store) => store.note<Row>(journal.#name), dbName);
    journal.row = goingOn(noted, journal.row);
    return journal;
  }

  async write(more: Partial<Row>) {
    this.row = { ...this.row, ...more };
    await withStore((store) => store.setNote(this.#name, this.row), this.#dbName);
  }

  /** Deletes the stored state. */
  async forget() {
    await withStore((store) => store.setNote(this.#name, null), this.#dbName);
  }
}

/** Registers one vault's DID, with a handle as its alias. Continues from the state recorded in the journal. */
export class ChainRegistration {
  #vault;
  #journal;
  #tell;
  #account;

  constructor(account: SmartAccount, vault: Vault, journal: Journal, tell: (step: RegistrationStep) => void) {
    this.#account = account;
    this.#vault = vault;
    this.#journal = journal;
    this.#tell = tell;
  }

  /** @throws {OperationFailed | RegistrationRefused | NetworkError} */
  async run() {
    const { did, operationHash } = this.#journal.row;
    const registered = (await this.#account.state()).did.toLowerCase() === (await textHash(this.#vault, did));
    if (operationHash && (registered || (await this.#arrived(operationHash)))) return this.#receipt(operationHash);
    if (registered)
      throw new RegistrationRefused(
        "this DID is on the chain already: it was registered earlier, or from another device",
      );
    const callData = await this.#call("register");
    const operation = this.#alias()
      ? await preparedClaim(this.#account, callData, (anew) => this.#commit(anew))
      : await this.#account.prepared(callData);
    const signed = await this.#account.signed(operation);
    await this.#journal.write({ operationHash: signed.hash });
    await this.#account.send(signed);
    this.#tell("sent to the chain");
    return this.#receipt(signed.hash);
  }

  /** @returns the number of the block that contains the commitment */
  async #commit(anew: boolean): Promise<number> {
    const before = this.#journal.row.commitmentOperation;
    const arrival = !anew && before ? await this.#arrived(before) : null;
    if (arrival) return arrival.blockNumber;
    await this.#account.requireFree(this.#alias());
    const signed = await this.#account.signed(await this.#account.prepared(await this.#call("commit")));
    await this.#journal.write({ commitmentOperation: signed.hash });
    await this.#account.send(signed);
    this.#tell("commitment sent");
    const { blockNumber } = await this.#account.wait(signed.hash);
    this.#tell("committed");
    return blockNumber;
  }

  async #call(step: "commit" | "register") {
    const { contracts, address: sender } = this.#account;
    const { didRegistry, entryPoint, appFactory } = contracts;
    const where = { registry_addr: didRegistry, entry_point: entryPoint, factory: appFactory };
    const request = { ...where, sender, alias: this.#alias(), step };
    return (await this.#vault.createRegistration(request)).call_data;
  }

  /** Returns the alias to claim, "" for none. */
  #alias() {
    const { channel, identifier } = this.#journal.row;
    return channel === "handle" ? canonicalHandle(identifier) : "";
  }

  async #receipt(hash: string) {
    const { transactionHash, blockNumber } = await this.#account.wait(hash);
    await this.#journal.write({ txHash: transactionHash, blockNumber, smartAccount: this.#account.address });
    this.#tell("on the chain");
  }

  /** Returns the receipt of an interrupted attempt's operation, or null if it failed or was not mined. */
  async #arrived(hash: string) {
    return this.#account.wait(hash, RECEIPT_AGAIN_MS).catch(insteadOf(OperationFailed, null));
  }
}

/**
 * Prepares the operation that claims an alias. Only the answer to that shows whether a commitment must be posted first,
 * and whether one that was posted is valid already.
 * @param commitment the number of the block that contains it, or posts it and returns that
 */
export async function preparedClaim(
  account: SmartAccount,
  callData: string,
  commitment: number | ((anew: boolean) => Promise<number>),
) {
  let after = typeof commitment === "number" ? commitment : null; // wait for the block after the commitment's
  for (let left = CLAIM_ATTEMPTS; ; left -= 1) {
    try {
      return await account.prepared(callData);
    } catch (error) {
      const lack = lackOf(error);
      if (!lack || left === 1) throw error;
      after =
        typeof commitment !== "number" && after === null && lack !== "block"
          ? await commitment(lack === "expired")
          : await account.nextBlock(after);
    }
  }
}

/** Returns what is missing from a claim that the registry refused (docs/contracts.md, "Claims"). */
function lackOf(error: unknown): "commitment" | "block" | "expired" | null {
  if (!(error instanceof OperationFailed) || isStale(error)) return null;
  if (error instanceof AccountNotFunded || error instanceof GasTooDear) return null;
  const data = revertOf(error);
  // A revert without a reason most likely means that the commitment is missing.
  if (data === null) return /revert/i.test(error.message) ? "commitment" : null;
  if (data.includes(TOO_NEW)) return "block";
  if (data.includes(EXPIRED)) return "expired";
  return data.includes(NOT_COMMITTED) ? "commitment" : null;
}

/**
 * Returns the parts of the stored state that are valid for the current request. A state of another identifier is
 * dropped, except for the transaction that registered the DID without an alias.
 */
function goingOn(noted: Row | null, requested: Row): Row {
  if (!noted) return requested;
  if (noted.identifier === requested.identifier && noted.channel === requested.channel) return noted;
  if ([noted.channel, requested.channel].includes("handle")) return requested;
  const { operationHash, txHash, blockNumber, smartAccount } = noted;
  return { ...requested, operationHash, txHash, blockNumber, smartAccount };
}
