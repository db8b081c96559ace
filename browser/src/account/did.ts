/** A DID at the chain's registry: its state, metadata, aliases and controller (docs/contracts.md). */

import "../core.ts";
import { fromHex, randomBytes, toHex } from "../bytes.ts";
import { type Call, execute } from "../chain/calls.ts";
import * as calls from "../chain/did_calls.ts";
import { checkedAddress } from "../chain/addresses.ts";
import { checkedHandle, checksumAddress, textHash } from "../chain/names.ts";
import { NOBODY } from "../chain/permissions.ts";
import { ask } from "../chain/rpc.ts";
import type { Client } from "../client.ts";
import { SmartAccount } from "../flows/account.ts";
import { preparedClaim } from "../flows/chain_registration.ts";
import { mined, type OnProgress, operated } from "./operating.ts";
import type { InTurn } from "../vault/turns.ts";

const SECRET_BYTES = 32;
/** As a controller, it withdraws a proposal. */
export const NO_ONE = `0x${"0".repeat(40)}`;

/** what the registry says about a DID */
export interface RegisteredDid {
  did: string;
  /** the account that may change it; null if it is not on the chain */ controller: string | null;
  /** whether it is active; no one resolves an inactive DID */ active: boolean;
  /** the CID of its metadata, or "" */ metadata: string;
  /** the account that may accept to become its controller */ proposed: string | null;
}

/** what the registry says about an alias */
export interface RegisteredAlias {
  /** the handle in its canonical form */ alias: string;
  /** the hash of the DID that it leads to; null if the alias is free */ didHash: string | null;
  /** the account that controls the DID */ controller: string | null;
  /** whether the alias is active */ active: boolean;
}

/**
 * One DID, which the client's account may change if it is the controller. Each change returns the operation's hash, and
 * throws OperationFailed if the registry refuses.
 */
export class AccountDid {
  #client;
  #inTurn;
  #did;

  /**
   * @param inTurn runs operations one at a time
   * @param did by default, the vault's
   */
  constructor(client: Client, inTurn: InTurn, did?: string) {
    this.#client = client;
    this.#inTurn = inTurn;
    this.#did = did;
  }

  /** @throws {NetworkError} */
  async registered(): Promise<RegisteredDid> {
    const { hash, did } = await this.#named();
    const [found, proposed] = await Promise.all([
      this.#read(calls.getDid(hash)),
      this.#read(calls.proposedController(hash)),
    ]);
    const { controller, ...state } = calls.readDid(found);
    const next = calls.readProposed(proposed);
    return { did, controller: await this.#checked(controller), ...state, proposed: await this.#checked(next) };
  }

  /** @param alias a handle @throws {NetworkError | TypeError} TypeError: it is not a handle */
  async registeredAlias(alias: string): Promise<RegisteredAlias> {
    const name = checkedHandle(alias);
    const found = calls.readAlias(await this.#read(calls.getAlias(await textHash(this.#client.vault, name))));
    return { alias: name, ...found, controller: await this.#checked(found.controller) };
  }

  /** Deactivates the DID, or activates it again. While it is inactive, nothing else of it can be changed. */
  setActive(active: boolean, { onProgress }: { onProgress?: OnProgress } = {}) {
    return this.#changed((registry, hash) => calls.setDidActive(registry, hash, active), onProgress);
  }

  /** @param cid of its metadata, at most 256 bytes; "" removes it */
  setMetadata(cid: string, { onProgress }: { onProgress?: OnProgress } = {}) {
    return this.#changed((registry, hash) => calls.setMetadata(registry, hash, cid), onProgress);
  }

  /**
   * Lets an account become the DID's controller, once that account accepts it.
   *
   * @param address the zero address withdraws the proposal
   */
  async proposeController(address: string, { onProgress }: { onProgress?: OnProgress } = {}) {
    const to = address === NOBODY ? NOBODY : await checkedAddress(this.#client.vault, address, "address");
    return this.#changed((registry, hash) => calls.changeController(registry, hash, to), onProgress);
  }

  /** Becomes the controller that was proposed; the account must control no other DID. */
  acceptController({ onProgress }: { onProgress?: OnProgress } = {}) {
    return this.#changed(calls.acceptController, onProgress);
  }

  /** Deactivates an alias of a DID that the account controls, or activates it again. */
  async setAliasActive(alias: string, active: boolean, { onProgress }: { onProgress?: OnProgress } = {}) {
    const hash = await textHash(this.#client.vault, checkedHandle(alias));
    return this.#changed((registry) => calls.setAliasActive(registry, hash, active), onProgress);
  }

  /**
   * Gives the DID one more alias on the chain, in two operations: a commitment, and a block later the claim.
   *
   * @param alias a handle
   * @returns the hash of the second operation
   * @throws {TypeError | RequestRefused} it is not a handle; the service applies rules that the client lacks
   */
  async registerAlias(alias: string, { onProgress }: { onProgress?: OnProgress } = {}): Promise<string> {
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

  async #changed(call: (registry: string, did: string) => Call, onProgress?: OnProgress) {
    const { hash } = await this.#named();
    const account = await SmartAccount.ofClient(this.#client);
    return this.#inTurn(() => operated(account, execute(call(account.contracts.didRegistry, hash)), onProgress));
  }

  async #named() {
    const { vault } = this.#client;
    const did = this.#did ?? (await vault.query()).did;
    return { did, hash: await textHash(vault, did) };
  }

  /** @param data of a view of the registry, 0x-hex */
  async #read(data: string) {
    const account = await SmartAccount.open(this.#client);
    const url = await account.knownEndpoint();
    return ask(url, "eth_call", [{ to: account.contracts.didRegistry, data }, "latest"]);
  }

  /** @returns with its checksum */
  async #checked(address: string | null): Promise<string | null> {
    return address && checksumAddress(this.#client.vault, address);
  }
}
