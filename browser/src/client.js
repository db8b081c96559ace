/** A service and a vault, and what takes both. */

import { ServiceClient } from "./http/service.js";
import { register } from "./flows/register.js";
import { Vault } from "./vault/vault.js";

/** One service and the vault of this page. `boot` comes first, `close` last. */
export class Client extends ServiceClient {
  /** @type {Vault} */
  #vault;

  /** @param {import("./http/service.js").ServiceOptions & import("./vault/vault.js").VaultOptions & {vault?: Vault}} [options] */
  constructor({ vault, ...options } = {}) {
    super(options);
    this.#vault = vault ?? new Vault({ wasmUrl: `${this.baseUrl}/enclave.wasm`, ...options });
  }

  /** The vault: it is the worker's, and unlocked with a passkey. */
  get vault() {
    return this.#vault;
  }

  /** @returns {import("./generated/types.js").BootStatus} */
  get bootStatus() {
    return this.#vault.bootStatus;
  }

  /** @returns {Promise<import("./generated/types.js").BootStatus>} */
  boot() {
    return this.#vault.boot();
  }

  /** Ends the worker and every request. Closing again is harmless. */
  async close() {
    this.#vault.close();
    await super.close();
  }

  /**
   * Registers the open vault's DID under one identifier. An interrupted registration goes on where it stopped.
   *
   * @param {import("./flows/register.js").RegistrationRequest} request
   * @returns {Promise<import("./generated/types.js").DidRecord>}
   * @throws {RequestRefused} the service says no (`code`)
   * @throws {RegistrationRefused} no right code was given, or the passkey is another DID's
   */
  register(request) {
    return register(this, request);
  }
}
