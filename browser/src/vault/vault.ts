/** A vault in a module worker of this page. The vault's keys never reach the page. */

import { bytesOf } from "../bytes.ts";
import { checkedHandle } from "../chain/names.ts";
import type { Answer, Results, SyncCompared, Wraps } from "../enclave-answers.ts";
import { ClientStateError } from "../errors.ts";
import type {
  BootEvent,
  BootStatus,
  CreateRegistrationInput,
  DelegationOptions,
  DeriveAddressResult,
  EncryptedShares,
  ExecInput,
  ExecOutput,
  GenerateInput,
  GenerateOutputWithShares,
  InvocationOptions,
  Keccak256Fn,
  LoadInput,
  LoadOutput,
  LockOutput,
  MintedUcan,
  ParseWebAuthnResult,
  PublishingKey,
  QueryInput,
  QueryOutput,
  RegistrationResult,
  SignResult,
  SignUserOpResult,
  SignedAccountMessage,
  StatusOutput,
  SyncCompleteResult,
  SyncInitResult,
  SyncRespondResult,
  UcanClaims,
  UnlockInput,
  UnlockOutput,
  UserOp,
  VaultExportOptions,
  VaultExportOutput,
  VaultImportOptions,
  VaultImportOutput,
  VaultManifest,
} from "../generated/types.ts";
import { ownAddress } from "../http/service.ts";
import { ENCLAVE_SHA256 } from "../generated/enclave.ts";
import type { VaultKey } from "../passkeys/secrets.ts";
import type { SnapshotState } from "../snapshots/state.ts";
import { passScript, type ScriptAddress, workerAddress } from "../trusted.ts";
import { BootLog } from "./boot.ts";
import { DEFAULT_DB_NAME } from "./store.ts";
import { WorkerPort } from "./port.ts";
import type { Args, Functions } from "./protocol.ts";
import { secretsOf } from "./values.ts";

type Notice = "opened" | "stored" | "locked" | "taken" | "failed";

export interface VaultOptions {
  /** "holdfast-vault" by default */ dbName?: string;
  /** worker.js next to this module by default */ workerUrl?: ScriptAddress;
  /** `/enclave.wasm` of the service that served this module by default */ wasmUrl?: string;
  /**
   * hex digest that the enclave module must have; null: any. By default, this release's if another origin than this
   * module's serves it
   */
  sha256?: string | null;
  /** called with each boot event */ onEvent?: (event: BootEvent) => void;
  /** started after the enclave; the vault works without them */ subsystems?: { helia?: Subsystem; libp2p?: Subsystem };
}

type Subsystem = (vault: Vault) => Promise<unknown>;

type VaultEvents = { "boot-progress": CustomEvent<BootEvent>; snapshot: CustomEvent<SnapshotState> } & Record<
  Notice,
  CustomEvent<string>
>;

type Listens = <K extends keyof VaultEvents>(
  type: K,
  listener: (event: VaultEvents[K]) => unknown,
  options?: boolean | AddEventListenerOptions,
) => void;

type VaultTarget = Omit<EventTarget, "addEventListener"> & {
  addEventListener: Listens & EventTarget["addEventListener"];
};

type VaultEventTarget = { new (): VaultTarget; prototype: VaultTarget };

/** a change of an account's owners or guardians */
type AccountChange = { kind: string; signer?: string; value?: number };

export type AccountMessage =
  | { message: "changes"; sequence: number; changes: AccountChange[] }
  | { message: "recovery"; nonce: number; new_owners: string[] }
  | { message: "cancellation"; nonce: number };

/**
 * `did`: which of several stored vaults; `takeOver`: take it from another tab; a text of at most 16 characters tells
 * that tab why
 */
type OpenOptions = { did?: string; takeOver?: boolean | string; minRevision?: number };

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
export class Vault extends (EventTarget as VaultEventTarget) {
  #options;
  #port: WorkerPort | null = null;
  #closed = false;
  #log;
  /** The SHA-256 of the enclave module in hex, which is empty before boot. */
  wasmVersion = "";

  constructor(options: VaultOptions = {}) {
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

  /** @returns which subsystems are ready; only the enclave is needed */
  get bootStatus(): BootStatus {
    return this.#log.status;
  }

  /**
   * Starts the worker and the enclave, then the subsystems in the options.
   *
   * @returns as soon as the enclave is ready, while the subsystems are still starting
   * @throws {WasmLoadError}
   */
  async boot(): Promise<BootStatus> {
    if (this.#closed || this.#port) throw new ClientStateError(this.#closed ? CLOSED : "the vault has been booted");
    const port = (this.#port = this.#started());
    try {
      await this.#log.starting("enclave", async () => {
        const { dbName, sha256, wasmUrl: given = `${ownAddress()}/enclave.wasm` } = this.#options;
        const wasmUrl = new URL(given, location.href).href;
        const booted = await port.call("boot", { wasmUrl, dbName, sha256: expectedHash(wasmUrl, sha256) });
        this.wasmVersion = (booted as Answer<"boot">).wasmVersion;
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

  /** Reports that a subsystem has failed or, if `error` is null, that it works. */
  report(subsystem: BootEvent["subsystem"], error: string | null) {
    this.#log.report(subsystem, error);
  }

  /**
   * Returns another vault with the same worker script and enclave module, and a database with a different name.
   *
   * @returns not booted yet
   */
  another({ dbName }: { dbName: string }): Vault {
    const { workerUrl, wasmUrl, sha256 } = this.#options;
    return new Vault({ workerUrl, wasmUrl, sha256, dbName });
  }

  /** Starts a subsystem after boot, as pairing does with libp2p. The boot status and events report the result. */
  start(subsystem: "helia" | "libp2p", start: () => Promise<unknown>) {
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
   * @param input and the enclave's own options: `curve`, `chain_id`, `factory`, `implementation`, `salt`,
   *   `device_name`
   * @param key opens the vault from now on; its secret is transferred to the worker
   */
  generate(
    input: GenerateInput & Omit<Args<"generate">, "key">,
    key: VaultKey,
  ): Promise<GenerateOutputWithShares & { parsed_credential: Record<string, unknown> }> {
    return this.#answered("generate", { ...input, key });
  }

  /**
   * Loads a sealed vault into the enclave, where it stays locked.
   *
   * @param input the newest stored vault unless given
   */
  load(input: LoadInput | null = null, options: OpenOptions = {}): Promise<LoadOutput> {
    return this.#answered("load", { ...input, ...opening(options) });
  }

  /**
   * Opens a vault.
   *
   * @param key its secret is transferred to the worker
   * @param input the newest stored vault unless given
   * @returns `error`: "open_elsewhere" if another tab has it open, "wrong_key", or another code of the enclave
   */
  unlock(key: VaultKey, input: UnlockInput | null = null, options: OpenOptions = {}): Promise<UnlockOutput> {
    return this.#answered("unlock", { ...input, ...opening(options), key });
  }

  /** @returns once the vault is sealed, stored and erased */
  lock(): Promise<LockOutput> {
    return this.#answered("lock");
  }

  /**
   * @param options `forgetOlder`: deletes all earlier revisions
   * @returns sealed and stored; the vault stays open
   */
  save({ forgetOlder }: { forgetOlder?: boolean } = {}): Promise<{ database: number[]; revision: number }> {
    return this.#answered("save", { forgetOlder });
  }

  status(): Promise<StatusOutput> {
    return this.#answered("status");
  }

  /** @param input a DID; empty: the vault's own */
  query(input: string | QueryInput = ""): Promise<QueryOutput> {
    return this.#answered("query", typeof input === "string" ? { did: input } : input);
  }

  /**
   * Executes `resource:<name> action:<name>`; changes to the vault are stored.
   *
   * @param input a filter, optionally with a UCAN token
   */
  exec<Filter extends keyof Results>(
    input: Filter,
    args?: object,
    more?: { audience?: string },
  ): Promise<ExecOutput<Results[Filter]>>;
  exec<T>(input: string | ExecInput, args?: object, more?: { audience?: string }): Promise<ExecOutput<T>>;
  exec(input: string | ExecInput, args?: object, { audience }: { audience?: string } = {}) {
    return this.#answered("exec", { ...(typeof input === "string" ? { filter: input } : input), args, audience });
  }

  /**
   * @param rule the shortest password that is accepted, in characters: at least 8, 12 by default
   * @returns a file in the MTRV format, protected by the password
   * @throws {TypeError} the password is too short or easy to guess
   */
  async export(
    options: VaultExportOptions,
    { minPassword }: { minPassword?: number } = {},
  ): Promise<VaultExportOutput> {
    const { checkPassword } = await import("./password_rule.ts");
    checkPassword(options.password, minPassword);
    return this.#answered("export", options);
  }

  /**
   * Imports a vault from an export. The vault is open, wrapped for `key` and stored afterwards.
   *
   * @param where `replace`: replaces a stored vault of the same DID
   */
  import(
    { data, password }: VaultImportOptions,
    key: VaultKey,
    where: { replace?: boolean; takeOver?: boolean } = {},
  ): Promise<VaultImportOutput> {
    return this.#answered("import", { data: bytesOf(data), password, key, ...where });
  }

  /**
   * Signs 32 bytes, or a text in the form that wallets sign (ERC-191).
   *
   * @param digest bytes or 0x-hex; a text as `{message}`
   * @param how `deterministic`: the same signature each time (RFC 6979)
   * @returns r followed by s, low s
   */
  sign(
    digest: BufferSource | number[] | string,
    { deterministic = false }: { deterministic?: boolean } = {},
  ): Promise<SignResult> {
    return this.#answered("sign", {
      digest: typeof digest === "string" ? digest : bytesOf(digest),
      ...(deterministic && { deterministic }),
    });
  }

  /** @param message signed in the form that wallets sign (ERC-191) */
  signMessage(message: string): Promise<SignResult> {
    return this.#answered("sign", { message });
  }

  signUserOp(userOp: UserOp, entryPoint: string, chainId: number): Promise<SignUserOpResult> {
    return this.#answered("sign_user_op", { user_op: userOp, entry_point: entryPoint, chain_id: chainId });
  }

  /**
   * Signs, once for every chain, changes of an account's owners and guardians, a recovery, or its cancellation. The
   * enclave computes the digest from these fields (enclave/ABI.md, "Messages of accounts").
   *
   * @returns 0x-hex
   */
  signAccountMessage(message: { account: string } & AccountMessage): Promise<SignedAccountMessage> {
    return this.#answered("sign_account_message", message);
  }

  /** @param options and the enclave's own: `policy`, `not_before`, `meta`, `token`, `subject` */
  delegate(options: DelegationOptions & Args<"mint_ucan">): Promise<MintedUcan> {
    return this.#answered("mint_ucan", { ...options, kind: "delegation" });
  }

  invoke(options: InvocationOptions & Args<"invoke_ucan">): Promise<MintedUcan> {
    return this.#answered("invoke_ucan", options);
  }

  /**
   * Returns the public key of the key that signs the vault's IPNS records. Before `generate`, returns the key that the
   * new vault will have. The public key is the passkey's user handle.
   *
   * @returns `public_key` in hex
   */
  publishingKey(): Promise<PublishingKey> {
    return this.#answered("publishing_key", {});
  }

  /**
   * Signs an IPNS record that points to a snapshot. The caller must increase `sequence` with each record.
   *
   * @param rootCid the snapshot's root, a CIDv1 in base32
   * @param validity when the record expires: RFC 3339 in UTC with nine fractional digits
   * @param ttlNs how long a reader may cache the record, in nanoseconds
   */
  async publish(
    rootCid: string,
    sequence: number,
    validity: string,
    ttlNs: number | bigint,
  ): Promise<{ record: Uint8Array; name: string }> {
    const { record, name } = await this.#answered("publish", { root_cid: rootCid, sequence, validity, ttl_ns: ttlNs });
    return { record: Uint8Array.from(record), name };
  }

  /** Returns the vault's delegation of `/snapshots/publish` to the publishing key, without expiry. */
  publishingDelegation(): Promise<MintedUcan> {
    return this.#answered("publishing_delegation", {});
  }

  /**
   * @param demand `proofs`, `audience`, `subject`, `command`, `args`, `now`, `revoked`
   * @returns the claims; throws with the code of the check that failed
   */
  verifyUcan(token: string | BufferSource, demand: Omit<Args<"verify_ucan">, "token"> = {}): Promise<UcanClaims> {
    return this.#answered("verify_ucan", { token, ...demand });
  }

  /** @param credential base64, such as the one in CreatePasskeyResult */
  parse(credential: string): Promise<ParseWebAuthnResult> {
    return this.#answered("parse_webauthn", { credential });
  }

  /**
   * Prepares the registration of a DID and an alias on the chain. The alias is used in its canonical form.
   *
   * @param input and the enclave's own options (enclave/ABI.md)
   */
  createRegistration(input: CreateRegistrationInput & Args<"create_registration">): Promise<RegistrationResult> {
    const canonical = input.alias ? { alias: checkedHandle(input.alias) } : {};
    return this.#answered("create_registration", { ...input, ...canonical });
  }

  /** @param chain "ethereum", "bitcoin" or "cosmos" */
  deriveAddress(
    chain: string = "ethereum",
    options: Omit<Args<"derive_address">, "chain"> = {},
  ): Promise<DeriveAddressResult> {
    return this.#answered("derive_address", { chain, ...options });
  }

  refreshShares(options: { enclave_id?: string; rotate?: boolean } = {}): Promise<EncryptedShares> {
    return this.#answered("refresh_shares", options);
  }

  /** @returns Keccak-256 in 0x-hex */
  async keccak256(data: BufferSource | number[]): Promise<string> {
    return (await this.#answered("keccak256", { data: bytesOf(data) })).hash;
  }

  /**
   * @param alias a handle in any form
   * @param keccak used in place of the enclave's
   * @returns Keccak-256 of the alias in its canonical form, 0x-hex
   */
  async aliasHash(alias: string, keccak?: Keccak256Fn): Promise<string> {
    const canonical = new TextEncoder().encode(checkedHandle(alias));
    return keccak ? keccak(canonical) : this.keccak256(canonical);
  }

  /** @returns on the new device */
  syncInit(): Promise<SyncInitResult> {
    return this.#answered("sync_init");
  }

  /**
   * Must be called twice on the device that has the vault: first with the other device's key, then with the six digits.
   *
   * @returns `sealed_vault` has the wraps of the vault's keys
   */
  syncRespond(
    sessionId: string,
    { publicKey, code }: { publicKey?: string; code?: string },
  ): Promise<SyncRespondResult & { sealed_vault?: string }> {
    return this.#answered("sync_respond", { session_id: sessionId, public_key: publicKey, code, with_keys: true });
  }

  /** Returns the six digits that both people compare. */
  syncCompare(
    sessionId: string,
    { publicKey, reveal }: { publicKey?: string; reveal?: string },
  ): Promise<SyncCompared> {
    return this.#answered("sync_compare", { session_id: sessionId, public_key: publicKey, reveal });
  }

  /**
   * Opens the received vault on the new device. The vault is open, wrapped for `key` and stored afterwards. With
   * `sealedVault`, the other device's passkeys and passwords open it too. Pass "" if the other device sent no
   * `sealed_vault`.
   */
  syncComplete(
    {
      sessionId,
      code,
      encryptedVault,
      sealedVault,
    }: { sessionId: string; code: string; encryptedVault: string; sealedVault?: string },
    key: VaultKey,
    where: { replace?: boolean; takeOver?: boolean } = {},
  ): Promise<SyncCompleteResult> {
    const came = { session_id: sessionId, code, encrypted_vault: encryptedVault, sealed_vault: sealedVault };
    return this.#answered("sync_complete", { ...came, key, ...where });
  }

  /** @param key another key that is to open the vault */
  addKey(key: VaultKey): Promise<Wraps> {
    return this.#answered("add_wrap", { key });
  }

  /** Removes a key, unless it is the last one. Stored revisions that the key could open are deleted. */
  removeKey(kind: "prf" | "password" | "secret", id: string): Promise<Wraps> {
    return this.#answered("remove_wrap", { kind, id });
  }

  /** @returns which keys open the vault */
  keys(): Promise<Wraps> {
    return this.#answered("list_wraps");
  }

  /** @param seconds of inactivity after which the vault locks itself, 900 by default; 0: never */
  async setAutoLock(seconds: number) {
    await this.#answered("set_auto_lock", { idle_seconds: seconds });
  }

  /** @returns of the vaults that are stored in this profile */
  stored(): Promise<VaultManifest[]> {
    return this.#answered("stored");
  }

  /** @param did a stored vault, to be deleted from this profile with all its revisions */
  async forget(did: string) {
    await this.#answered("forget", { did });
  }

  /** Calls a function of the enclave (enclave/ABI.md) that vault/protocol.ts allows. */
  call<Fn extends keyof Functions>(fn: Fn, args: Args<Fn> = {}): Promise<Answer<Fn>> {
    return this.#answered(fn, args);
  }

  async #answered<Fn extends keyof Functions>(fn: Fn, args: Args<Fn> = {}): Promise<Answer<Fn>> {
    if (!this.#port || this.#closed) throw new ClientStateError(this.#closed ? CLOSED : NOT_BOOTED);
    if (!this.#log.status.enclave) throw new ClientStateError(NOT_BOOTED);
    const answer = (await this.#port.call(fn, args, secretsOf(args))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(answer ?? {})) {
      if (value instanceof ArrayBuffer) answer[name] = Array.from(new Uint8Array(value));
    }
    return answer as Answer<Fn>;
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
 * @param given null: any module
 */
function expectedHash(wasmUrl: string, given: string | null | undefined) {
  if (given !== undefined) return given ?? undefined;
  return new URL(wasmUrl).origin === new URL(import.meta.url).origin ? undefined : ENCLAVE_SHA256;
}

function opening({ did, takeOver, minRevision }: OpenOptions) {
  return { did, takeOver, min_revision: minRevision };
}

async function started(subsystem: Subsystem | undefined, name: string, vault: Vault) {
  if (!subsystem) throw new Error(`${name}: no module was given for it (options.subsystems)`);
  await subsystem(vault);
}
