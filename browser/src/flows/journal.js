/** Stores in the vault's database the state from which an interrupted registration continues. It contains no secret. */

import { VaultStore } from "../vault/store.js";

/**
 * @typedef {object} Row
 * @property {string} did
 * @property {string} identifier
 * @property {string} channel
 * @property {boolean} [sessionAsked]
 * @property {import("../generated/types.js").Attestation} [attestation]
 * @property {string} [commitmentOperation] of the user operation that posted the commitment
 * @property {string} [operationHash] of the user operation that registers
 * @property {string} [txHash]
 * @property {number} [blockNumber]
 * @property {string} [smartAccount]
 */

/** The stored state of one registration. */
export class Journal {
  #store;
  #name;

  /** @param {VaultStore} store @param {string} name @param {Row} row */
  constructor(store, name, row) {
    this.#store = store;
    this.#name = name;
    this.row = row;
  }

  /**
   * Opens the stored state for one DID, which is empty unless there was an earlier attempt.
   * @param {string | undefined} dbName @param {string} did @param {{identifier: string, channel: string}} requested
   */
  static async open(dbName, did, { identifier, channel }) {
    const store = new VaultStore({ dbName });
    const name = `registration:${did}`;
    return new Journal(store, name, goingOn(await store.note(name), { did, identifier, channel }));
  }

  /** @param {Partial<Row>} more */
  async write(more) {
    this.row = { ...this.row, ...more };
    await this.#store.setNote(this.#name, this.row);
  }

  /** Deletes the stored state. */
  async forget() {
    await this.#store.setNote(this.#name, null);
  }

  /** Closes the database. */
  async close() {
    await this.#store.close();
  }
}

/**
 * Returns the parts of the stored state that are valid for the current request. A state of another identifier is dropped,
 * except for the transaction that registered the DID without an alias.
 * @param {Row | null} noted @param {Row} requested @returns {Row}
 */
function goingOn(noted, requested) {
  if (!noted) return requested;
  if (noted.identifier === requested.identifier && noted.channel === requested.channel) return noted;
  if ([noted.channel, requested.channel].includes("handle")) return requested;
  const { operationHash, txHash, blockNumber, smartAccount } = noted;
  return { ...requested, operationHash, txHash, blockNumber, smartAccount };
}
