/** A vault in a module worker of this page. The vault's keys never reach the page. */

import { bytesOf } from "../bytes.js";
import { checkedHandle } from "../chain/names.js";
import { ClientStateError } from "../errors.js";
import { ownAddress } from "../http/service.js";
import { ENCLAVE_SHA256 } from "../generated/enclave.js";
import { passScript, workerAddress } from "../trusted.js";
import { BootLog } from "./boot.js";
import { DEFAULT_DB_NAME } from "./store.js";
import { WorkerPort } from "./port.js";
import { secretsOf } from "./values.js";

/**
 * @typedef {import("../generated/types.js").BootStatus} BootStatus
 * @typedef {import("../generated/types.js").BootEvent} BootEvent
 * @typedef {import("../passkeys/secrets.js").VaultKey} VaultKey
 * @typedef {import("../snapshots/state.js").SnapshotState} SnapshotState
 * @typedef {"opened" | "stored" | "locked" | "taken" | "failed"} Notice
 *
 * @typedef {object} VaultOptions
 * @property {string} [dbName] "holdfast-vault" by default
 * @property {import("../trusted.js").ScriptAddress} [workerUrl] worker.js next to this module by default
 * @property {string} [wasmUrl] `/enclave.wasm` of the service that served this module by default
 * @property {string | null} [sha256] hex digest that the enclave module must have; null: any. By default, this release's if
 *   another origin than this module's serves it
 * @property {(event: BootEvent) => void} [onEvent] called with each boot event
 * @property {{helia?: Subsystem, libp2p?: Subsystem}} [subsystems] started after the enclave; the vault works without them
 * @typedef {(vault: Vault) => Promise<unknown>} Subsystem
 *
 * @typedef {{"boot-progress": CustomEvent<BootEvent>, snapshot: CustomEvent<SnapshotState>} & Record<Notice,
 *   CustomEvent<string>>} VaultEvents
 *
 * @typedef {<K extends keyof VaultEvents>(type: K, listener: (event: VaultEvents[K]) => unknown,
 *   options?: boolean | AddEventListenerOptions) => void} Listens
 * @typedef {Omit<EventTarget, "addEventListener"> & {addEventListener: Listens & EventTarget["addEventListener"]}} VaultTarget
 * @typedef {{new (): VaultTarget, prototype: VaultTarget}} VaultEventTarget
 *
 * @typedef {{kind: string, signer?: string, value?: number}} AccountChange a change of an account's owners or guardians
 * @typedef {{did?: string, takeOver?: boolean | string, minRevision?: number}} OpenOptions `did`: which of several stored
 *   vaults; `takeOver`: take it from another tab; a text of at most 16 characters tells that tab why
 */

const NOT_BOOTED = "the vault has not been booted: call boot() first";
const CLOSED = "the vault is closed";

/**
 * One vault in one worker. Before `boot` and after `close`, calls throw ClientStateError. While the vault is booted,
 * calls throw PluginCallError if the enclave refuses, and StorageError if this browser's storage fails.
 *
 * Events: "boot-progress", "snapshot" (the state of its snapshots has changed), "opened", "stored" (a new revision), "locked"
 * (it locked itself, or another tab requested it; `detail`: what that tab gave as the reason), "taken" (another tab took it
 * over; the vault is closed), "failed" (the worker stopped; the vault is closed).
 */
export class Vault extends /** @type {VaultEventTarget} */ (EventTarget) {
  #options;
  /** @type {WorkerPort | null} */
  #port = null;
  #closed = false;
  #log;
  /** The SHA-256 of the enclave module in hex, which is empty before boot. */
  wasmVersion = "";

  /** @param {VaultOptions} [options] */
  constructor(options = {}) {
    super();
    this.#options = options;
    this.#log = new BootLog((event) => {
      options.onEvent?.(event);
      this.dispatchEvent(new CustomEvent(event.type, { detail: event }));
    });
  }

  /** The name of the database in which revisions are stored. */
  get dbName() {
    return this.#options.dbName ?? DEFAULT_DB_NAME;
  }

  /** @returns {BootStatus} which subsystems are ready; only the enclave is needed */
  get bootStatus() {
    return this.#log.status;
  }

  /**
   * Starts the worker and the enclave, then the subsystems in the options.
   *
   * @returns {Promise<BootStatus>} as soon as the enclave is ready, while the subsystems are still starting
   * @throws {WasmLoadError}
   */
  async boot() {
    if (this.#closed || this.#port) throw new ClientStateError(this.#closed ? CLOSED : "the vault has been booted");
    const port = (this.#port = this.#started());
    try {
      await this.#log.starting("enclave", async () => {
        const { dbName, sha256, wasmUrl: given = `${ownAddress()}/enclave.wasm` } = this.#options;
        const wasmUrl = new URL(given, location.href).href;
        const booted = await port.call("boot", { wasmUrl, dbName, sha256: expectedHash(wasmUrl, sha256) });
        this.wasmVersion = booted.wasmVersion;
      });
    } catch (error) {
      this.close();
      throw error;
    }
    const { helia, libp2p } = this.#options.subsystems ?? {};
    this.#log.starting("helia", () => started(helia, "snapshots", this)).catch(() => {});
    this.#log.starting("libp2p", () => started(libp2p, "libp2p", this)).catch(() => {});
    return this.bootStatus;
  }

  /**
   * Reports that a subsystem has failed or, if `error` is null, that it works.
   *
   * @param {BootEvent["subsystem"]} subsystem
   * @param {string | null} error
   */
  report(subsystem, error) {
    this.#log.report(subsystem, error);
  }

  /**
   * Returns another vault with the same worker script and enclave module, and a database with a different name.
   *
   * @param {{dbName: string}} options
   * @returns {Vault} not booted yet
   */
  another({ dbName }) {
    const { workerUrl, wasmUrl, sha256 } = this.#options;
    return new Vault({ workerUrl, wasmUrl, sha256, dbName });
  }

  /**
   * Starts a subsystem after boot, as pairing does with libp2p. The boot status and events report the result.
   *
   * @param {"helia" | "libp2p"} subsystem
   * @param {() => Promise<unknown>} start
   */
  start(subsystem, start) {
    return this.#log.starting(subsystem, start);
  }

  /** Terminates the worker without saving. Repeated calls have no effect. */
  close() {
    this.#closed = true;
    this.#port?.end(CLOSED);
    this.#log.ended();
  }

  /**
   * Creates a vault from a passkey's credential. The vault is open and stored afterwards.
   *
   * @param {import("../generated/types.js").GenerateInput & Record<string, any>} input and the enclave's own options:
   *   `curve`, `chain_id`, `factory`, `implementation`, `salt`, `device_name`
   * @param {VaultKey} key opens the vault from now on; its secret is transferred to the worker
   * @returns {Promise<import("../generated/types.js").GenerateOutputWithShares & {parsed_credential: any}>}
   */
  generate(input, key) {
    return this.#answered("generate", { ...input, key });
  }

  /**
   * Loads a sealed vault into the enclave, where it stays locked.
   *
   * @param {import("../generated/types.js").LoadInput | null} [input] the newest stored vault unless given
   * @param {OpenOptions} [options]
   * @returns {Promise<import("../generated/types.js").LoadOutput>}
   */
  load(input = null, options = {}) {
    return this.#answered("load", { ...input, ...opening(options) });
  }

  /**
   * Opens a vault.
   *
   * @param {VaultKey} key its secret is transferred to the worker
   * @param {import("../generated/types.js").UnlockInput | null} [input] the newest stored vault unless given
   * @param {OpenOptions} [options]
   * @returns {Promise<import("../generated/types.js").UnlockOutput>} `error`: "open_elsewhere" if another tab has it
   *   open, "wrong_key", or another code of the enclave
   */
  unlock(key, input = null, options = {}) {
    return this.#answered("unlock", { ...input, ...opening(options), key });
  }

  /** @returns {Promise<import("../generated/types.js").LockOutput>} once the vault is sealed, stored and erased */
  lock() {
    return this.#answered("lock");
  }

  /**
   * @param {{forgetOlder?: boolean}} [options] `forgetOlder`: deletes all earlier revisions
   * @returns {Promise<{database: number[], revision: number}>} sealed and stored; the vault stays open
   */
  save({ forgetOlder } = {}) {
    return this.#answered("save", { forgetOlder });
  }

  /** @returns {Promise<import("../generated/types.js").StatusOutput>} */
  status() {
    return this.#answered("status");
  }

  /**
   * @param {string | import("../generated/types.js").QueryInput} [input] a DID; empty: the vault's own
   * @returns {Promise<import("../generated/types.js").QueryOutput>}
   */
  query(input = "") {
    return this.#answered("query", typeof input === "string" ? { did: input } : input);
  }

  /**
   * Executes `resource:<name> action:<name>`; changes to the vault are stored.
   *
   * @template T
   * @param {string | import("../generated/types.js").ExecInput} input a filter, optionally with a UCAN token
   * @param {Record<string, any>} [args]
   * @param {{audience?: string}} [options]
   * @returns {Promise<import("../generated/types.js").ExecOutput<T>>}
   */
  exec(input, args, { audience } = {}) {
    return this.#answered("exec", { ...(typeof input === "string" ? { filter: input } : input), args, audience });
  }

  /**
   * @param {import("../generated/types.js").VaultExportOptions} options
   * @param {{minPassword?: number}} [rule] the shortest password that is accepted, in characters: at least 8, 12 by default
   * @returns {Promise<import("../generated/types.js").VaultExportOutput>} a file in the MTRV format, protected by the password
   * @throws {TypeError} the password is too short or easy to guess
   */
  async export(options, { minPassword } = {}) {
    const { checkPassword } = await import("./password_rule.js");
    checkPassword(options.password, minPassword);
    return this.#answered("export", options);
  }

  /**
   * Imports a vault from an export. The vault is open, wrapped for `key` and stored afterwards.
   *
   * @param {import("../generated/types.js").VaultImportOptions} options
   * @param {VaultKey} key
   * @param {{replace?: boolean, takeOver?: boolean}} [where] `replace`: replaces a stored vault of the same DID
   * @returns {Promise<import("../generated/types.js").VaultImportOutput>}
   */
  import({ data, password }, key, where = {}) {
    return this.#answered("import", { data: bytesOf(data), password, key, ...where });
  }

  /**
   * Signs 32 bytes, or a text in the form that wallets sign (ERC-191).
   *
   * @param {BufferSource | number[] | string} digest bytes or 0x-hex; a text as `{message}`
   * @param {{deterministic?: boolean}} [how] `deterministic`: the same signature each time (RFC 6979)
   * @returns {Promise<import("../generated/types.js").SignResult>} r followed by s, low s
   */
  sign(digest, { deterministic = false } = {}) {
    return this.#answered("sign", {
      digest: typeof digest === "string" ? digest : bytesOf(digest),
      ...(deterministic && { deterministic }),
    });
  }

  /**
   * @param {string} message signed in the form that wallets sign (ERC-191)
   * @returns {Promise<import("../generated/types.js").SignResult>}
   */
  signMessage(message) {
    return this.#answered("sign", { message });
  }

  /**
   * @param {import("../generated/types.js").UserOp} userOp
   * @param {string} entryPoint
   * @param {number} chainId
   * @returns {Promise<import("../generated/types.js").SignUserOpResult>}
   */
  signUserOp(userOp, entryPoint, chainId) {
    return this.#answered("sign_user_op", { user_op: userOp, entry_point: entryPoint, chain_id: chainId });
  }

  /**
   * Signs, once for every chain, changes of an account's owners and guardians, a recovery, or its cancellation. The
   * enclave computes the digest from these fields (enclave/ABI.md, "Messages of accounts").
   *
   * @param {{account: string, message: "changes", sequence: number, changes: AccountChange[]}
   *   | {account: string, message: "recovery", nonce: number, new_owners: string[]}
   *   | {account: string, message: "cancellation", nonce: number}} message
   * @returns {Promise<{signature: string, digest: string, signer: string, enclave_id: string}>} 0x-hex
   */
  signAccountMessage(message) {
    return this.#answered("sign_account_message", message);
  }

  /**
   * @param {import("../generated/types.js").DelegationOptions & Record<string, any>} options and the enclave's own:
   *   `policy`, `not_before`, `meta`, `token`, `subject`
   * @returns {Promise<import("../generated/types.js").MintUcanResult & {cid: string, issuer: string, container: string}>}
   */
  delegate(options) {
    return this.#answered("mint_ucan", { ...options, kind: "delegation" });
  }

  /**
   * @param {import("../generated/types.js").InvocationOptions & Record<string, any>} options
   * @returns {Promise<import("../generated/types.js").MintUcanResult & {cid: string, issuer: string, container: string}>}
   */
  invoke(options) {
    return this.#answered("invoke_ucan", options);
  }

  /**
   * Returns the public key of the key that signs the vault's IPNS records. Before `generate`, returns the key that the
   * new vault will have. The public key is the passkey's user handle.
   *
   * @returns {Promise<{public_key: string, name: string, did: string, pending: boolean}>} `public_key` in hex
   */
  publishingKey() {
    return this.#answered("publishing_key", {});
  }

  /**
   * Signs an IPNS record that points to a snapshot. The caller must increase `sequence` with each record.
   *
   * @param {string} rootCid the snapshot's root, a CIDv1 in base32
   * @param {number} sequence
   * @param {string} validity when the record expires: RFC 3339 in UTC with nine fractional digits
   * @param {number | bigint} ttlNs how long a reader may cache the record, in nanoseconds
   * @returns {Promise<{record: Uint8Array, name: string}>}
   */
  async publish(rootCid, sequence, validity, ttlNs) {
    const { record, name } = await this.#answered("publish", { root_cid: rootCid, sequence, validity, ttl_ns: ttlNs });
    return { record: Uint8Array.from(record), name };
  }

  /**
   * Returns the vault's delegation of `/snapshots/publish` to the publishing key, without expiry.
   *
   * @returns {Promise<import("../generated/types.js").MintUcanResult & {cid: string, issuer: string, container: string}>}
   */
  publishingDelegation() {
    return this.#answered("publishing_delegation", {});
  }

  /**
   * @param {string | BufferSource} token
   * @param {Record<string, any>} [demand] `proofs`, `audience`, `subject`, `command`, `args`, `now`, `revoked`
   * @returns {Promise<any>} the claims; throws with the code of the check that failed
   */
  verifyUcan(token, demand = {}) {
    return this.#answered("verify_ucan", { token, ...demand });
  }

  /**
   * @param {string} credential base64, such as the one in CreatePasskeyResult
   * @returns {Promise<import("../generated/types.js").ParseWebAuthnResult>}
   */
  parse(credential) {
    return this.#answered("parse_webauthn", { credential });
  }

  /**
   * Prepares the registration of a DID and an alias on the chain. The alias is used in its canonical form.
   *
   * @param {import("../generated/types.js").CreateRegistrationInput & Record<string, any>} input and the enclave's own
   *   options (enclave/ABI.md)
   * @returns {Promise<import("../generated/types.js").RegistrationResult>}
   */
  createRegistration(input) {
    const canonical = input.alias ? { alias: checkedHandle(input.alias) } : {};
    return this.#answered("create_registration", { ...input, ...canonical });
  }

  /**
   * @param {string} chain "ethereum", "bitcoin" or "cosmos"
   * @param {Record<string, any>} [options]
   * @returns {Promise<import("../generated/types.js").DeriveAddressResult>}
   */
  deriveAddress(chain = "ethereum", options = {}) {
    return this.#answered("derive_address", { chain, ...options });
  }

  /**
   * @param {{enclave_id?: string, rotate?: boolean}} [options]
   * @returns {Promise<import("../generated/types.js").EncryptedShares>}
   */
  refreshShares(options = {}) {
    return this.#answered("refresh_shares", options);
  }

  /**
   * @param {BufferSource | number[]} data
   * @returns {Promise<string>} Keccak-256 in 0x-hex
   */
  async keccak256(data) {
    return (await this.#answered("keccak256", { data: bytesOf(data) })).hash;
  }

  /**
   * @param {string} alias a handle in any form
   * @param {import("../generated/types.js").Keccak256Fn} [keccak] used in place of the enclave's
   * @returns {Promise<string>} Keccak-256 of the alias in its canonical form, 0x-hex
   */
  async aliasHash(alias, keccak) {
    const canonical = new TextEncoder().encode(checkedHandle(alias));
    return keccak ? keccak(canonical) : this.keccak256(canonical);
  }

  /** @returns {Promise<import("../generated/types.js").SyncInitResult>} on the new device */
  syncInit() {
    return this.#answered("sync_init");
  }

  /**
   * Must be called twice on the device that has the vault: first with the other device's key, then with the six digits.
   *
   * @param {string} sessionId
   * @param {{publicKey?: string, code?: string}} step
   * @returns {Promise<import("../generated/types.js").SyncRespondResult & {sealed_vault?: string}>} `sealed_vault` has
   *   the wraps of the vault's keys
   */
  syncRespond(sessionId, { publicKey, code }) {
    return this.#answered("sync_respond", { session_id: sessionId, public_key: publicKey, code, with_keys: true });
  }

  /**
   * Returns the six digits that both people compare.
   *
   * @param {string} sessionId
   * @param {{publicKey?: string, reveal?: string}} step
   * @returns {Promise<{success: boolean, session_id?: string, code?: string, reveal?: string, expires_at?: string, error?: string}>}
   */
  syncCompare(sessionId, { publicKey, reveal }) {
    return this.#answered("sync_compare", { session_id: sessionId, public_key: publicKey, reveal });
  }

  /**
   * Opens the received vault on the new device. The vault is open, wrapped for `key` and stored afterwards. With
   * `sealedVault`, the other device's passkeys and passwords open it too. Pass "" if the other device sent no
   * `sealed_vault`.
   *
   * @param {{sessionId: string, code: string, encryptedVault: string, sealedVault?: string}} received
   * @param {VaultKey} key
   * @param {{replace?: boolean, takeOver?: boolean}} [where]
   * @returns {Promise<import("../generated/types.js").SyncCompleteResult>}
   */
  syncComplete({ sessionId, code, encryptedVault, sealedVault }, key, where = {}) {
    const came = { session_id: sessionId, code, encrypted_vault: encryptedVault, sealed_vault: sealedVault };
    return this.#answered("sync_complete", { ...came, key, ...where });
  }

  /**
   * @param {VaultKey} key another key that is to open the vault
   * @returns {Promise<{wraps: {kind: string, id: string}[]}>}
   */
  addKey(key) {
    return this.#answered("add_wrap", { key });
  }

  /**
   * Removes a key, unless it is the last one. Stored revisions that the key could open are deleted.
   *
   * @param {"prf" | "password" | "secret"} kind
   * @param {string} id
   * @returns {Promise<{wraps: {kind: string, id: string}[]}>}
   */
  removeKey(kind, id) {
    return this.#answered("remove_wrap", { kind, id });
  }

  /** @returns {Promise<{wraps: {kind: string, id: string}[]}>} which keys open the vault */
  keys() {
    return this.#answered("list_wraps");
  }

  /** @param {number} seconds of inactivity after which the vault locks itself, 900 by default; 0: never */
  async setAutoLock(seconds) {
    await this.#answered("set_auto_lock", { idle_seconds: seconds });
  }

  /** @returns {Promise<import("../generated/types.js").VaultManifest[]>} of the vaults that are stored in this profile */
  stored() {
    return this.#answered("stored");
  }

  /** @param {string} did a stored vault, to be deleted from this profile with all its revisions */
  async forget(did) {
    await this.#answered("forget", { did });
  }

  /**
   * Calls a function of the enclave (enclave/ABI.md) that vault/protocol.js allows.
   *
   * @param {string} fn
   * @param {Record<string, any>} [args]
   * @returns {Promise<any>}
   */
  call(fn, args = {}) {
    return this.#answered(fn, args);
  }

  /**
   * @param {string} fn
   * @param {Record<string, any>} [args]
   */
  async #answered(fn, args = {}) {
    if (!this.#port || this.#closed) throw new ClientStateError(this.#closed ? CLOSED : NOT_BOOTED);
    if (!this.#log.status.enclave) throw new ClientStateError(NOT_BOOTED);
    const answer = await this.#port.call(fn, args, secretsOf(args));
    for (const [name, value] of Object.entries(answer ?? {})) {
      if (value instanceof ArrayBuffer) answer[name] = Array.from(new Uint8Array(value));
    }
    return answer;
  }

  #started() {
    const address = this.#options.workerUrl ?? workerAddress;
    passScript(String(address));
    return new WorkerPort(address, ({ type, why }) => {
      if (type === "taken" || type === "failed") this.close();
      this.dispatchEvent(new CustomEvent(type, { detail: why ?? "" }));
    });
  }
}

/**
 * Returns the hash that the enclave must have. An application that contains this module compares the enclave with this
 * release's, so that a service cannot give it another one; a service that serves this module could change both.
 *
 * @param {string} wasmUrl
 * @param {string | null | undefined} given null: any module
 */
function expectedHash(wasmUrl, given) {
  if (given !== undefined) return given ?? undefined;
  return new URL(wasmUrl).origin === new URL(import.meta.url).origin ? undefined : ENCLAVE_SHA256;
}

/** @param {OpenOptions} options */
function opening({ did, takeOver, minRevision }) {
  return { did, takeOver, min_revision: minRevision };
}

/**
 * @param {Subsystem | undefined} subsystem
 * @param {string} name
 * @param {Vault} vault
 */
async function started(subsystem, name, vault) {
  if (!subsystem) throw new Error(`${name}: no module was given for it (options.subsystems)`);
  await subsystem(vault);
}
