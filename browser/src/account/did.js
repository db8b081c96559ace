/** A DID at the chain's registry: its state, metadata, aliases and controller (docs/contracts.md). */

import "../core.js";
import { fromHex, randomBytes, toHex } from "../bytes.js";
import { execute, isAddress } from "../chain/calls.js";
import * as calls from "../chain/did_calls.js";
import { checkedHandle, checksumAddress, textHash } from "../chain/names.js";
import { ask } from "../chain/rpc.js";
import { SmartAccount } from "../flows/account.js";
import { preparedClaim } from "../flows/chain_registration.js";
import { mined, operated } from "./operating.js";

const SECRET_BYTES = 32;
/** As a controller, it withdraws a proposal. */
export const NO_ONE = `0x${"0".repeat(40)}`;

/**
 * @typedef {import("../client.js").Client} Client
 * @typedef {import("../chain/calls.js").Call} Call
 * @typedef {import("./keys.js").OnProgress} OnProgress
 *
 * @typedef {object} RegisteredDid what the registry says about a DID
 * @property {string} did
 * @property {string | null} controller the account that may change it; null if it is not on the chain
 * @property {boolean} active whether it is active; no one resolves an inactive DID
 * @property {string} metadata the CID of its metadata, or ""
 * @property {string | null} proposed the account that may accept to become its controller
 *
 * @typedef {object} RegisteredAlias what the registry says about an alias
 * @property {string} alias the handle in its canonical form
 * @property {string | null} didHash the hash of the DID that it leads to; null if the alias is free
 * @property {string | null} controller the account that controls the DID
 * @property {boolean} active whether the alias is active
 */

/**
 * One DID, which the client's account may change if it is the controller. Each change returns the operation's hash, and
 * throws OperationFailed if the registry refuses.
 */
export class AccountDid {
  #client;
  #inTurn;
  #did;

  /**
   * @param {Client} client
   * @param {<T>(work: () => Promise<T>) => Promise<T>} inTurn runs operations one at a time
   * @param {string} [did] by default, the vault's
   */
  constructor(client, inTurn, did) {
    this.#client = client;
    this.#inTurn = inTurn;
    this.#did = did;
  }

  /** @returns {Promise<RegisteredDid>} @throws {import("../errors.js").NetworkError} */
  async registered() {
    const { hash, did } = await this.#named();
    const [found, proposed] = await Promise.all([
      this.#read(calls.getDid(hash)),
      this.#read(calls.proposedController(hash)),
    ]);
    const { controller, ...state } = calls.readDid(found);
    const next = calls.readProposed(proposed);
    return { did, controller: await this.#checked(controller), ...state, proposed: await this.#checked(next) };
  }

  /**
   * @param {string} alias a handle @returns {Promise<RegisteredAlias>}
   * @throws {import("../errors.js").NetworkError | TypeError} TypeError: it is not a handle
   */
  async registeredAlias(alias) {
    const name = checkedHandle(alias);
    const found = calls.readAlias(await this.#read(calls.getAlias(await textHash(this.#client.vault, name))));
    return { alias: name, ...found, controller: await this.#checked(found.controller) };
  }

  /**
   * Deactivates the DID, or activates it again. While it is inactive, nothing else of it can be changed.
   *
   * @param {boolean} active
   * @param {{onProgress?: OnProgress}} [how]
   */
  setActive(active, { onProgress } = {}) {
    return this.#changed((registry, hash) => calls.setDidActive(registry, hash, active), onProgress);
  }

  /** @param {string} cid of its metadata, at most 256 bytes; "" removes it @param {{onProgress?: OnProgress}} [how] */
  setMetadata(cid, { onProgress } = {}) {
    return this.#changed((registry, hash) => calls.setMetadata(registry, hash, cid), onProgress);
  }

  /**
   * Lets an account become the DID's controller, once that account accepts it.
   *
   * @param {string} address the zero address withdraws the proposal
   * @param {{onProgress?: OnProgress}} [how]
   */
  async proposeController(address, { onProgress } = {}) {
    if (!isAddress(address)) throw new TypeError("address: not an address");
    return this.#changed((registry, hash) => calls.changeController(registry, hash, address), onProgress);
  }

  /** Becomes the controller that was proposed; the account must control no other DID. @param {{onProgress?: OnProgress}} [how] */
  acceptController({ onProgress } = {}) {
    return this.#changed(calls.acceptController, onProgress);
  }

  /**
   * Deactivates an alias of a DID that the account controls, or activates it again.
   *
   * @param {string} alias
   * @param {boolean} active
   * @param {{onProgress?: OnProgress}} [how]
   */
  async setAliasActive(alias, active, { onProgress } = {}) {
    const hash = await textHash(this.#client.vault, checkedHandle(alias));
    return this.#changed((registry) => calls.setAliasActive(registry, hash, active), onProgress);
  }

  /**
   * Gives the DID one more alias on the chain, in two operations: a commitment, and a block later the claim.
   *
   * @param {string} alias a handle
   * @param {{onProgress?: OnProgress}} [how]
   * @returns {Promise<string>} the hash of the second operation
   * @throws {TypeError | RequestRefused} it is not a handle; the service applies rules that the client lacks
   */
  async registerAlias(alias, { onProgress } = {}) {
    const { vault } = this.#client;
    const name = checkedHandle(alias);
    await this.#client.checkAlias({ alias: name });
    const [{ hash: did }, hash] = [await this.#named(), await textHash(vault, name)];
    const account = await SmartAccount.ofClient(this.#client);
    await account.requireFree(name);
    const registry = account.contracts.didRegistry;
    const secret = toHex(randomBytes(SECRET_BYTES));
    const claim = calls.commitmentBytes({ did, alias: hash, controller: account.address, secret });
    const commitment = await vault.keccak256(fromHex(claim));
    const commit = execute(calls.commit(registry, commitment));
    const register = execute(calls.registerAlias(registry, hash, did, secret));
    return this.#inTurn(async () => {
      const { blockNumber } = await mined(account, account.prepared(commit), onProgress);
      return (await mined(account, preparedClaim(account, register, blockNumber), onProgress)).hash;
    });
  }

  /** @param {(registry: string, did: string) => Call} call @param {OnProgress} [onProgress] */
  async #changed(call, onProgress) {
    const { hash } = await this.#named();
    const account = await SmartAccount.ofClient(this.#client);
    return this.#inTurn(() => operated(account, execute(call(account.contracts.didRegistry, hash)), onProgress));
  }

  async #named() {
    const { vault } = this.#client;
    const did = this.#did ?? (await vault.query()).did;
    return { did, hash: await textHash(vault, did) };
  }

  /** @param {string} data of a view of the registry, 0x-hex */
  async #read(data) {
    const account = await SmartAccount.open(this.#client);
    const url = await account.knownEndpoint();
    return ask(url, "eth_call", [{ to: account.contracts.didRegistry, data }, "latest"]);
  }

  /** @param {string | null} address @returns {Promise<string | null>} with its checksum */
  async #checked(address) {
    return address && checksumAddress(this.#client.vault, address);
  }
}
