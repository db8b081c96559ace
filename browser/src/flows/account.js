/**
 * The vault's smart account on one service's chain: prepares its operations, has the enclave sign them, and sends each
 * once.
 */

import "../core.js";
import { Bundler } from "../chain/bundler.js";
import { createAccount } from "../chain/calls.js";
import { OperationFailed, isStale } from "../chain/errors.js";
import { higherFees } from "../chain/fees.js";
import { didOfKey } from "../chain/names.js";
import { paidByAccount } from "../chain/own_gas.js";
import { PluginCallError } from "../errors.js";
import { accountAddress, contractsOf } from "./contracts.js";
import { SignedOperations } from "./signed.js";

/** The service caches an account's state for at most two seconds. */
const STATE_AGE_MS = 2100;

/**
 * @typedef {import("../client.js").Client} Client
 * @typedef {import("../generated/types.js").UserOp} UserOp
 * @typedef {{x: bigint, y: bigint, address: string}} AccountKey
 * @typedef {import("../chain/own_gas.js").GasPolicy} GasPolicy
 */

/** One account of one vault. */
export class SmartAccount {
  #client;
  #policy;
  #signed;

  /**
   * @param {Client} client
   * @param {GasPolicy} policy
   * @param {{contracts: import("../generated/types.js").ContractSet, key: AccountKey}} facts
   */
  constructor(client, policy, { contracts, key }) {
    this.#client = client;
    this.#policy = policy;
    this.contracts = contracts;
    this.key = key;
    this.bundler = new Bundler(client, contracts.entryPoint);
    this.#signed = new SignedOperations(
      client.vault.dbName,
      `${contracts.chainId}:${contracts.entryPoint}:${key.address}`,
    );
  }

  /**
   * @param {Client} client
   * @param {GasPolicy} [policy]
   */
  static async open(client, policy = {}) {
    const [contracts, key] = await Promise.all([contractsOf(client), keyOf(client)]);
    return new SmartAccount(client, policy, { contracts, key });
  }

  /** The account's address. */
  get address() {
    return this.key.address;
  }

  /** Returns the account's state on the chain. */
  state() {
    return this.#client.accountState({ account: this.key.address });
  }

  /**
   * Prepares an operation with the given call data, so that only its signature is missing. An account's first operation
   * also deploys it.
   *
   * @param {string} callData 0x-hex
   * @returns {Promise<UserOp>}
   * @throws {OperationFailed}
   */
  async prepared(callData) {
    try {
      return await this.#paid(callData);
    } catch (error) {
      if (!isStale(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, STATE_AGE_MS));
    try {
      return await this.#paid(callData);
    } catch (error) {
      if (isStale(error)) await this.#signed.giveUp();
      throw error;
    }
  }

  /**
   * Signs an operation with the enclave.
   *
   * @param {UserOp} operation
   * @returns {Promise<{operation: UserOp, hash: string}>}
   */
  async signed(operation) {
    const { entryPoint, chainId } = this.contracts;
    const { signature, user_op_hash: hash } = await this.#client.vault.signUserOp(operation, entryPoint, chainId);
    return { operation: { ...operation, signature }, hash };
  }

  /**
   * Sends a signed operation without retrying.
   *
   * @param {{operation: UserOp, hash: string}} signed
   */
  async send({ operation, hash }) {
    await this.#signed.note(operation, hash);
    await this.bundler.send(operation, hash);
  }

  /**
   * Waits for the receipt of an operation.
   *
   * @param {string} hash
   * @param {number} [within] milliseconds
   * @returns {Promise<import("../chain/bundler.js").Receipt>}
   * @throws {OperationFailed} the operation was mined and failed, or there was no receipt in time
   */
  async wait(hash, within) {
    try {
      const receipt = await this.bundler.wait(hash, within);
      await this.#signed.mined(hash);
      return receipt;
    } catch (error) {
      if (error instanceof OperationFailed && error.reverted) await this.#signed.mined(hash);
      throw error;
    }
  }

  /** @param {string} hash @returns {Promise<{reverted: boolean} | null>} null until it is mined */
  async #outcome(hash) {
    try {
      return (await this.bundler.receipt(hash)) && { reverted: false };
    } catch (error) {
      if (error instanceof OperationFailed && error.reverted) return error;
      throw error;
    }
  }

  /** @param {string} callData */
  async #paid(callData) {
    const operation = await this.#unpaid(callData);
    if (this.#policy.sponsored === false) return paidByAccount(this.#client, this, operation, "no sponsor was asked");
    try {
      return await this.#sponsored(operation);
    } catch (error) {
      if (!(error instanceof OperationFailed) || speaksOfOperation(error)) throw error;
      return paidByAccount(this.#client, this, operation, `the sponsor does not pay: ${error.message}`);
    }
  }

  /** @param {string} callData */
  async #unpaid(callData) {
    const state = await this.state();
    const { x, y } = this.key;
    if (BigInt(state.pubKeyX) !== 0n && (BigInt(state.pubKeyX) !== x || BigInt(state.pubKeyY) !== y)) {
      throw new OperationFailed(`the account ${this.address} is controlled by another key than this vault's`);
    }
    const nonce = await this.#signed.nonce(state.nonce, callData, (hash) => this.#outcome(hash));
    const deployed = nonce > 0n || BigInt(state.pubKeyX) !== 0n;
    const first = deployed ? {} : { factory: this.contracts.appFactory, factoryData: createAccount(x, y) };
    const fees = await this.#signed.leastFees(nonce);
    return { ...EMPTY, sender: this.address, nonce: hex(nonce), callData, ...first, ...fees };
  }

  /** Returns the operation, sponsored at the sponsor's fees or its own higher ones. @param {UserOp} operation */
  async #sponsored(operation) {
    const made = await this.bundler.sponsored({ ...operation, maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0" });
    const fees = higherFees(made, operation);
    const enough = JSON.stringify(higherFees(made, made)) === JSON.stringify(fees);
    return enough ? made : this.bundler.sponsored({ ...operation, ...fees });
  }

  /** Whether a sponsor is asked first, and how much the account may pay for gas itself. */
  get policy() {
    return this.#policy;
  }
}

/** @type {Omit<UserOp, "sender" | "nonce" | "callData">} */
const EMPTY = {
  factory: null,
  factoryData: null,
  callGasLimit: "0x0",
  verificationGasLimit: "0x0",
  preVerificationGas: "0x0",
  maxFeePerGas: "0x0",
  maxPriorityFeePerGas: "0x0",
  paymaster: null,
  paymasterVerificationGasLimit: null,
  paymasterPostOpGasLimit: null,
  paymasterData: null,
  signature: "0x",
};

/** @param {bigint} value */
function hex(value) {
  return `0x${value.toString(16)}`;
}

/**
 * Whether the sponsor refused because of the operation itself: a revert or an outdated nonce.
 *
 * @param {OperationFailed} error
 */
function speaksOfOperation(error) {
  return isStale(error) || (/revert/i.test(error.message) && !error.message.includes("AA3"));
}

/**
 * Returns the key whose hash is the vault's DID, and its account's address.
 *
 * @param {Client} client
 * @returns {Promise<AccountKey>}
 */
async function keyOf(client) {
  const { vault } = client;
  const { did } = await vault.query();
  const listed = await vault.exec("resource:enclaves action:list");
  for (const { curve, public_key: point } of /** @type {any[]} */ (listed.result ?? [])) {
    const [x, y] = [point.slice(2, 66), point.slice(66)];
    if (curve !== "P-256" || (await didOfKey(vault, x, y)) !== did) continue;
    const key = { x: BigInt(`0x${x}`), y: BigInt(`0x${y}`) };
    return { ...key, address: await accountAddress(client, key) };
  }
  throw new PluginCallError("exec", "the vault has no P-256 key of its DID", "not_found");
}
