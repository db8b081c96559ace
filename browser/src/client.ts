/** The client, which combines a service and a vault with the functions that need both, each loaded on first use. */

import "./core.ts";
import type { AccountDid } from "./account/did.ts";
import type { AccountKeys } from "./account/keys.ts";
import type { AccountSpending } from "./account/spending.ts";
import { fromHex } from "./bytes.ts";
import type { GasPolicy } from "./chain/own_gas.ts";
import type { SecondKey } from "./chain/two_keys.ts";
import { NetworkError } from "./errors.ts";
import type { SmartAccount } from "./flows/account.ts";
import type { Moved, MoveOptions, NewPasskeys } from "./flows/move.ts";
import type { AddedPasskey, AddOptions } from "./flows/passkeys.ts";
import type { PayOptions } from "./flows/pay.ts";
import type { Removal, Removed, StoredPerson } from "./flows/person.ts";
import type { RegistrationRequest } from "./flows/register.ts";
import type {
  Attestation,
  BootStatus,
  CreatePasskeyResult,
  DidRecord,
  GetAccountStateInput,
  GetSmartAccountAddressInput,
  PaymentParams,
  PaymentResult,
} from "./generated/types.ts";
import { ServiceClient, type ServiceOptions } from "./http/service.ts";
import { getAccountState, getSmartAccountAddress } from "./chain/lookups.ts";
import { createPasskey, type PasskeyOptions } from "./passkeys/create.ts";
import type { SnapshotConfig } from "./snapshots/hosts.ts";
import type { VaultSnapshots } from "./snapshots/keeping.ts";
import type { Recovered, RecoveryOptions } from "./snapshots/recovery.ts";
import { turns } from "./vault/turns.ts";
import { Vault, type VaultOptions } from "./vault/vault.ts";

/** A client of one service, with this page's vault. Call `boot` first and `close` last. */
export class Client extends ServiceClient {
  declare accountAddress: string | null;
  declare secondKey: SecondKey | null;
  declare gas: GasPolicy;
  declare foreignContracts: boolean;
  declare serviceDid: string | null;

  #vault: Vault;

  /** Operations run one at a time, because an account's nonces are consecutive. */
  #inTurn = turns();

  #snapshots: Promise<VaultSnapshots> | null = null;
  #snapshotOptions;
  #options;

  /**
   * @param options `snapshots`: where the vault's snapshots are stored, by default on the service; false: nowhere.
   *   `foreignContracts`: whether the service may use another account factory than this release's, by default only on
   *   the service's own pages. `account`: the smart account to pay from, if it is not the first account of the vault's
   *   key: one that another key created, and of which the vault's key is an owner. `secondKey`: other owners' keys, of
   *   which one signs too where two owners must
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
  }: ServiceOptions &
    VaultOptions & {
      vault?: Vault;
      gas?: GasPolicy;
      foreignContracts?: boolean;
      account?: string;
      secondKey?: SecondKey | null;
      snapshots?: SnapshotConfig | false;
    } = {}) {
    super(options);
    this.#options = { gas, foreignContracts, fetch: options.fetch, timeout: options.timeout };
    /** The address of the account to pay from, if another key created it. */
    this.accountAddress = account ?? null;
    /** Other owners' keys, of which one signs too where two owners must. */
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

  get bootStatus(): BootStatus {
    return this.#vault.bootStatus;
  }

  boot(): Promise<BootStatus> {
    return this.#vault.boot();
  }

  /** Terminates the worker and cancels all requests. Repeated calls have no effect. */
  override async close() {
    this.#vault.close();
    await this.#end();
  }

  /** @returns the vault's snapshots; their module is loaded on first use */
  snapshots(): Promise<VaultSnapshots> {
    this.#snapshots ??= this.#loaded();
    return this.#snapshots;
  }

  /**
   * Recovers a vault into this browser, either with only a passkey or from a CAR file. The vault is open afterwards.
   *
   * @throws {StorageError} nothing was stored; `code` says why
   */
  async recover(options: RecoveryOptions = {}): Promise<Recovered> {
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
      const { VaultSnapshots } = await part(import("./snapshots/main.ts"));
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
   * @throws {WebAuthnError}
   */
  async createPasskey(options: PasskeyOptions = {}): Promise<CreatePasskeyResult> {
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
   * @returns `registered` false: it opens the vault, but the service did not register it: call `registerPasskey`
   * @throws {WebAuthnError} `reason` "no_prf": it cannot open a vault, and was not added
   */
  async addPasskey(options: AddOptions = {}): Promise<AddedPasskey> {
    return (await part(import("./flows/passkeys.ts"))).addPasskey(this, options);
  }

  /**
   * Registers a passkey of the vault with the service, if `addPasskey` could not.
   *
   * @param credentialId base64url
   * @param proof of an e-mail address or phone number
   * @returns false: the vault is not registered yet, or `attestation` is missing
   * @throws {RequestRefused} the service refuses; `code` says why
   */
  async registerPasskey(credentialId: string, proof: { attestation?: Attestation } = {}): Promise<boolean> {
    return (await part(import("./flows/passkeys.ts"))).registerPasskey(this, credentialId, proof);
  }

  /**
   * Removes a passkey from the vault and, if another one is registered, from the service, and notifies the password
   * manager.
   *
   * @param credentialId base64url
   * @returns whether the password manager could be notified, and whether the service has removed it
   * @throws {PluginCallError} `last_wrap`: it is the only key
   */
  async removePasskey(credentialId: string): Promise<{ isNotified: boolean; takenBack: boolean }> {
    return (await part(import("./flows/passkeys.ts"))).removePasskey(this, credentialId);
  }

  /**
   * Returns all that the service stores about the open vault's DID.
   *
   * @returns the rows, by kind
   * @throws {RequestRefused} the service refuses; `code` says why
   */
  async exportPerson(): Promise<StoredPerson> {
    return (await part(import("./flows/person.ts"))).exportPerson(this);
  }

  /**
   * Takes back a passkey's registration, an identifier, or everything that the service stores about the open vault's
   * DID. The vault in this browser, and what is on the chain, stay.
   *
   * @returns how many rows of each kind the service has removed
   * @throws {RequestRefused} the service refuses; `code` says why
   */
  async takeBack(removal: Removal): Promise<Removed> {
    return (await part(import("./flows/person.ts"))).takeBack(this, removal);
  }

  /**
   * Moves the person to another service, or to this one under a new host name: name, vault and a new passkey. DID, keys
   * and account stay. This client's service gives up the name and the passkey only after the other one was checked, the
   * new passkey has signed, the name and the vault's copy were found there, and the new passkey owns the account. After
   * an interruption, a second call continues.
   *
   * @param url the other service's address
   * @throws {MoveRefused} a check failed; `code` says which. This service has lost nothing
   * @throws {SecondKeyMissing} two owners of the account must sign. This service has lost nothing
   */
  async move(
    url: string,
    passkeys: NewPasskeys,
    { invitation = "", ...options }: MoveOptions & { invitation?: string } = {},
  ): Promise<Moved> {
    const { move } = await part(import("./flows/move.ts"));
    return this.#with(url, async (next) => {
      next.invitation = invitation;
      return move(this, next, passkeys, options); // not in turn: it brings the account's changes to other chains, in turn
    });
  }

  /**
   * Checks another service before a person moves there, and that the vault's name is free at it.
   *
   * @returns what would move
   * @throws {MoveRefused} `code` says why the person cannot move there
   */
  async moveCheck(url: string): Promise<{ identifier: string; channel: string; did: string }> {
    const { moveCheck } = await part(import("./flows/move.ts"));
    return this.#with(url, (next) => moveCheck(this, next));
  }

  /** Runs `work` with a client of another service and the same vault. */
  async #with<T>(baseUrl: string, work: (next: Client) => Promise<T>): Promise<T> {
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
   * @param attestation from `checkCode`
   * @returns the address that the DID now holds
   * @throws {RequestRefused} the service refuses; `code` says why
   */
  async addAddress(attestation: Attestation): Promise<{ identifier: string; channel: string }> {
    return (await part(import("./flows/person.ts"))).addAddress(this, attestation);
  }

  /**
   * Registers the open vault's DID under one identifier. An interrupted registration continues where it stopped.
   *
   * @throws {RequestRefused} the service refuses; `code` says why
   * @throws {RegistrationRefused} no correct code was entered, or the passkey belongs to another DID
   */
  register(request: RegistrationRequest): Promise<DidRecord> {
    const registered = this.#inTurn(async () => (await part(import("./flows/register.ts"))).register(this, request));
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
   * @throws {TypeError} the parameters cannot be a payment on the service's chain
   * @throws {PaymentRefused} nothing was signed: the payee is not registered, or the delegation does not allow it
   * @throws {AccountNotFunded} the account has too little for the amount, or for the fee that no sponsor pays
   * @throws {OperationFailed} the chain refused the payment
   */
  pay(params: PaymentParams, options: PayOptions = {}): Promise<PaymentResult> {
    return this.#inTurn(async () => (await part(import("./flows/pay.ts"))).pay(this, params, options));
  }

  /** @returns the open vault's account on this service's chain, deployed or not */
  async account(): Promise<SmartAccount> {
    const { SmartAccount } = await part(import("./flows/account.ts"));
    return SmartAccount.ofClient(this);
  }

  /**
   * Returns the owners and guardians of an account, their changes, and its recovery.
   *
   * @param account another one than the client's, such as one that this vault's key guards
   * @param chainId another chain of the service than its main chain
   */
  async accountKeys(account?: string, chainId?: number): Promise<AccountKeys> {
    const { AccountKeys } = await part(import("./account/keys.ts"));
    return new AccountKeys(this, this.#inTurn, account, chainId);
  }

  /** Returns what apps may spend from the client's account, and what this vault may spend from other accounts. */
  async accountSpending(): Promise<AccountSpending> {
    const { AccountSpending } = await part(import("./account/spending.ts"));
    return new AccountSpending(this, this.#inTurn);
  }

  /**
   * Returns a DID at the chain's registry, which the client's account may change if it is the controller.
   *
   * @param did by default, the vault's
   */
  async accountDid(did?: string): Promise<AccountDid> {
    const { AccountDid } = await part(import("./account/did.ts"));
    return new AccountDid(this, this.#inTurn, did);
  }

  getSmartAccountAddress(input: GetSmartAccountAddressInput): Promise<string> {
    return getSmartAccountAddress(input, this);
  }

  getAccountState(input: GetAccountStateInput) {
    return getAccountState(input, this);
  }
}

/**
 * Waits for a part of the client that is loaded on first use.
 *
 * @throws {NetworkError} it could not be loaded
 */
async function part<T>(module: Promise<T>): Promise<T> {
  try {
    return await module;
  } catch (cause) {
    throw cause instanceof TypeError ? new NetworkError("a part of the client could not be loaded", { cause }) : cause;
  }
}
