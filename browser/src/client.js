/** The client, which combines a service and a vault with the functions that need both, each loaded on first use. */

import "./core.js";
import { fromHex } from "./bytes.js";
import { NetworkError } from "./errors.js";
import { ServiceClient } from "./http/service.js";
import { getAccountState, getSmartAccountAddress } from "./chain/lookups.js";
import { createPasskey } from "./passkeys/create.js";
import { Vault } from "./vault/vault.js";

/**
 * @typedef {import("./flows/account.js").SmartAccount} SmartAccount
 * @typedef {import("./snapshots/keeping.js").VaultSnapshots} VaultSnapshots
 */

/** A client of one service, with this page's vault. Call `boot` first and `close` last. */
export class Client extends ServiceClient {
  /** @type {Vault} */
  #vault;

  /** Operations run one at a time, because an account's nonces are consecutive. */
  #turn = Promise.resolve();

  /** @type {Promise<VaultSnapshots> | null} */
  #snapshots = null;
  #snapshotOptions;
  #options;

  /**
   * @param {import("./http/service.js").ServiceOptions & import("./vault/vault.js").VaultOptions &
   *   {vault?: Vault, gas?: import("./chain/own_gas.js").GasPolicy, foreignContracts?: boolean, account?: string,
   *   secondKey?: import("./chain/two_keys.js").SecondKey | null, snapshots?: import("./snapshots/hosts.js").SnapshotConfig | false}} [options] `snapshots`: where the vault's
   *   snapshots are stored, by default on the service; false: nowhere. `foreignContracts`: whether the service may use
   *   another account factory than this release's, by default only on the service's own pages. `account`: the smart
   *   account to pay from, if it is not the first account of the vault's key: one that another key created, and of which
   *   the vault's key is an owner. `secondKey`: other owners' keys, of which one signs too where two owners must
   */
  constructor({
    vault,
    gas = {},
    foreignContracts,
    account,
    secondKey = null,
    snapshots = {},
    subsystems,
    ...options
  } = {}) {
    super(options);
    this.#options = { gas, foreignContracts, fetch: options.fetch, timeout: options.timeout };
    /** The address of the account to pay from, if another key created it. */
    this.accountAddress = account ?? null;
    /**
     * Other owners' keys, of which one signs too where two owners must.
     *
     * @type {import("./chain/two_keys.js").SecondKey | null}
     */
    this.secondKey = secondKey;
    /** The options that determine who pays for the gas of the account's operations. */
    this.gas = gas;
    // Whoever serves the page also serves this code.
    this.foreignContracts = foreignContracts ?? new URL(this.baseUrl).origin === globalThis.location?.origin;
    /** The DID to which requests that the vault's key signs are addressed; null: the did:web of the service's address. */
    this.serviceDid = (snapshots && snapshots.serviceDid) || null;
    this.#snapshotOptions = { config: snapshots || { automatic: false }, fetch: options.fetch };
    const helia = async () => (await this.snapshots()).start();
    this.#vault =
      vault ??
      new Vault({
        wasmUrl: `${this.baseUrl}/enclave.wasm`,
        ...options,
        subsystems: { ...(snapshots && { helia }), libp2p: () => this.#pairable(), ...subsystems },
      });
  }

  /** The vault, which the worker holds and a passkey unlocks. */
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

  /** Terminates the worker and cancels all requests. Repeated calls have no effect. */
  async close() {
    this.#vault.close();
    await this.#end();
  }

  /** @returns {Promise<VaultSnapshots>} the vault's snapshots; their module is loaded on first use */
  snapshots() {
    this.#snapshots ??= this.#loaded();
    return this.#snapshots;
  }

  /**
   * Recovers a vault into this browser, either with only a passkey or from a CAR file. The vault is open afterwards.
   *
   * @param {import("./snapshots/recovery.js").RecoveryOptions} [options]
   * @returns {Promise<import("./snapshots/recovery.js").Recovered>}
   * @throws {StorageError} nothing was stored; `code` says why
   */
  async recover(options = {}) {
    return (await this.snapshots()).recover(options);
  }

  /** Fails unless the module that pairs devices can be had. It is loaded by the first pairing, because it is large. */
  async #pairable() {
    // Bundlers recognise only this form, with the text itself.
    const { ok, status } = await fetch(new URL("./pairing/libp2p.js", import.meta.url), { method: "HEAD" });
    if (!ok) throw new NetworkError(`the module for pairing cannot be had (${status})`);
  }

  async #loaded() {
    try {
      const { VaultSnapshots } = await part(import("./snapshots/main.js"));
      return new VaultSnapshots(this, this.#snapshotOptions.config, this.#snapshotOptions.fetch);
    } catch (error) {
      this.#snapshots = null; // so that the next call loads the module again
      throw error;
    }
  }

  /**
   * Creates a passkey for the vault and this service. The passkey's user handle is the vault's publishing key, whether
   * or not the vault has been created yet.
   *
   * @param {import("./passkeys/create.js").PasskeyOptions} [options]
   * @returns {Promise<import("./generated/types.js").CreatePasskeyResult>}
   * @throws {WebAuthnError}
   */
  async createPasskey(options = {}) {
    const { public_key: key } = await this.#vault.publishingKey();
    return createPasskey({ rpId: this.rpId, userHandle: fromHex(key), ...options });
  }

  /** The relying party's ID, which is the service's host. */
  get rpId() {
    return new URL(this.baseUrl).hostname;
  }

  /**
   * Creates another passkey that opens the vault, and registers it with the service under the same identifier.
   *
   * @param {import("./flows/passkeys.js").AddOptions} [options]
   * @returns {Promise<import("./flows/passkeys.js").AddedPasskey>}
   * @throws {WebAuthnError} `reason` "no_prf": it cannot open a vault, and was not added
   */
  async addPasskey(options = {}) {
    return (await part(import("./flows/passkeys.js"))).addPasskey(this, options);
  }

  /**
   * Registers a passkey of the vault with the service, if `addPasskey` could not.
   *
   * @param {string} credentialId base64url
   * @param {{attestation?: import("./generated/types.js").Attestation}} [proof] of an e-mail address or phone number
   * @returns {Promise<boolean>} false: the vault is not registered yet, or `attestation` is missing
   * @throws {RequestRefused} the service refuses; `code` says why
   */
  async registerPasskey(credentialId, proof = {}) {
    return (await part(import("./flows/passkeys.js"))).registerPasskey(this, credentialId, proof);
  }

  /**
   * Removes a passkey from the vault and, if another one is registered, from the service, and notifies the password
   * manager.
   *
   * @param {string} credentialId base64url
   * @returns {Promise<{isNotified: boolean, takenBack: boolean}>} whether the password manager could be notified, and whether
   *   the service has removed it
   * @throws {PluginCallError} `last_wrap`: it is the only key
   */
  async removePasskey(credentialId) {
    return (await part(import("./flows/passkeys.js"))).removePasskey(this, credentialId);
  }

  /**
   * Returns all that the service stores about the open vault's DID.
   *
   * @returns {Promise<Record<string, any>>} the rows, by kind
   * @throws {RequestRefused} the service refuses; `code` says why
   */
  async exportPerson() {
    return (await part(import("./flows/person.js"))).exportPerson(this);
  }

  /**
   * Takes back a passkey's registration, an identifier, or everything that the service stores about the open vault's
   * DID. The vault in this browser, and what is on the chain, stay.
   *
   * @param {import("./flows/person.js").Removal} removal
   * @returns {Promise<import("./flows/person.js").Removed>} how many rows of each kind the service has removed
   * @throws {RequestRefused} the service refuses; `code` says why
   */
  async takeBack(removal) {
    return (await part(import("./flows/person.js"))).takeBack(this, removal);
  }

  /**
   * Moves the person to another service, or to this one under a new host name: name, vault and a new passkey. DID, keys
   * and account stay. This client's service gives up the name and the passkey only after the other one was checked, the new
   * passkey has signed, the name and the vault's copy were found there, and the new passkey owns the account. After an
   * interruption, a second call continues.
   *
   * @param {string} url the other service's address
   * @param {import("./flows/move.js").NewPasskeys} passkeys
   * @param {import("./flows/move.js").MoveOptions & {invitation?: string}} [options]
   * @returns {Promise<import("./flows/move.js").Moved>}
   * @throws {MoveRefused} a check failed; `code` says which. This service has lost nothing
   * @throws {SecondKeyMissing} two owners of the account must sign. This service has lost nothing
   */
  async move(url, passkeys, { invitation = "", ...options } = {}) {
    const { move } = await part(import("./flows/move.js"));
    return this.#with(url, async (next) => {
      next.invitation = invitation;
      return move(this, next, passkeys, options); // not in turn: it brings the account's changes to other chains, in turn
    });
  }

  /**
   * Checks another service before a person moves there, and that the vault's name is free at it.
   *
   * @param {string} url
   * @returns {Promise<{identifier: string, channel: string, did: string}>} what would move
   * @throws {MoveRefused} `code` says why the person cannot move there
   */
  async moveCheck(url) {
    const { moveCheck } = await part(import("./flows/move.js"));
    return this.#with(url, (next) => moveCheck(this, next));
  }

  /**
   * Runs `work` with a client of another service and the same vault.
   *
   * @template T
   * @param {string} baseUrl
   * @param {(next: Client) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #with(baseUrl, work) {
    const { accountAddress, secondKey } = this;
    const payer = { account: accountAddress ?? undefined, secondKey };
    const given = { ...this.#options, ...payer, vault: this.#vault, snapshots: { automatic: false } };
    const next = new Client({ ...given, baseUrl });
    try {
      return await work(next);
    } finally {
      await next.#end();
    }
  }

  /** Cancels all requests, and leaves the vault open. */
  async #end() {
    await (await this.#snapshots?.catch(() => null))?.close();
    await super.close();
  }

  /**
   * Adds an e-mail address or phone number to the open vault's DID, which must be registered. To change an address, add
   * the new one and take the old one back.
   *
   * @param {import("./generated/types.js").Attestation} attestation from `checkCode`
   * @returns {Promise<{identifier: string, channel: string}>} the address that the DID now holds
   * @throws {RequestRefused} the service refuses; `code` says why
   */
  async addAddress(attestation) {
    return (await part(import("./flows/person.js"))).addAddress(this, attestation);
  }

  /**
   * Registers the open vault's DID under one identifier. An interrupted registration continues where it stopped.
   *
   * @param {import("./flows/register.js").RegistrationRequest} request
   * @returns {Promise<import("./generated/types.js").DidRecord>}
   * @throws {RequestRefused} the service refuses; `code` says why
   * @throws {RegistrationRefused} no correct code was entered, or the passkey belongs to another DID
   */
  register(request) {
    const registered = this.#inTurn(async () => (await part(import("./flows/register.js"))).register(this, request));
    // Once the vault is registered, the service accepts its snapshots.
    registered.then(async () => (await this.#snapshots)?.changed()).catch(() => {});
    return registered;
  }

  /**
   * Pays from the vault's smart account, and waits until the payment is on the chain.
   *
   * If `params.ucan` is given, the delegation must allow `/accounts/pay` with {to, amount, token, chainId, total}. The
   * enclave checks the delegation before anything is signed; `total` includes earlier payments under it.
   *
   * @param {import("./generated/types.js").PaymentParams} params
   * @param {import("./flows/pay.js").PayOptions} [options]
   * @returns {Promise<import("./generated/types.js").PaymentResult>}
   * @throws {TypeError} the parameters cannot be a payment on the service's chain
   * @throws {PaymentRefused} nothing was signed: the payee is not registered, or the delegation does not allow it
   * @throws {AccountNotFunded} the account has too little for the amount, or for the fee that no sponsor pays
   * @throws {OperationFailed} the chain refused the payment
   */
  pay(params, options = {}) {
    return this.#inTurn(async () => (await part(import("./flows/pay.js"))).pay(this, params, options));
  }

  /** @returns {Promise<SmartAccount>} the open vault's account on this service's chain, deployed or not */
  async account() {
    const { SmartAccount } = await part(import("./flows/account.js"));
    return SmartAccount.ofClient(this);
  }

  /**
   * Returns the owners and guardians of an account, their changes, and its recovery.
   *
   * @param {string} [account] another one than the client's, such as one that this vault's key guards
   * @param {number} [chainId] another chain of the service than its main chain
   * @returns {Promise<import("./account/keys.js").AccountKeys>}
   */
  async accountKeys(account, chainId) {
    const { AccountKeys } = await part(import("./account/keys.js"));
    return new AccountKeys(this, (work) => this.#inTurn(work), account, chainId);
  }

  /**
   * Returns what apps may spend from the client's account, and what this vault may spend from other accounts.
   *
   * @returns {Promise<import("./account/spending.js").AccountSpending>}
   */
  async accountSpending() {
    const { AccountSpending } = await part(import("./account/spending.js"));
    return new AccountSpending(this, (work) => this.#inTurn(work));
  }

  /**
   * Returns a DID at the chain's registry, which the client's account may change if it is the controller.
   *
   * @param {string} [did] by default, the vault's
   * @returns {Promise<import("./account/did.js").AccountDid>}
   */
  async accountDid(did) {
    const { AccountDid } = await part(import("./account/did.js"));
    return new AccountDid(this, (work) => this.#inTurn(work), did);
  }

  /** @param {import("./generated/types.js").GetSmartAccountAddressInput} input @returns {Promise<string>} */
  getSmartAccountAddress(input) {
    return getSmartAccountAddress({ vaultUrl: this.baseUrl, ...input });
  }

  /** @param {import("./generated/types.js").GetAccountStateInput} input */
  getAccountState(input) {
    return getAccountState({ vaultUrl: this.baseUrl, ...input });
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  #inTurn(work) {
    const done = this.#turn.then(work);
    this.#turn = done.then(
      () => {},
      () => {},
    );
    return done;
  }
}

/**
 * Waits for a part of the client that is loaded on first use.
 *
 * @template T
 * @param {Promise<T>} module
 * @returns {Promise<T>}
 * @throws {NetworkError} it could not be loaded
 */
async function part(module) {
  try {
    return await module;
  } catch (cause) {
    throw cause instanceof TypeError ? new NetworkError("a part of the client could not be loaded", { cause }) : cause;
  }
}
