/** The worker's side of a vault, with one enclave, one store and one lock. Requests are processed one at a time. */

import { bytesOf, fromBase64, toHex } from "../bytes.ts";
import { type Enclave, instantiate } from "../enclave-host.ts";
import { PluginCallError, StorageError } from "../errors.ts";
import { VaultLock } from "./lock.ts";
import { type Args, OCTETS, read, type Reply, type Request, type VaultEvent, type WorkerError } from "./protocol.ts";
import { noteRemoval } from "./removals.ts";
import { readHeader } from "./sealed_header.ts";
import { NotOwner, type SaveOptions, VaultStore } from "./store.ts";
import { turns } from "./turns.ts";

/** The calls that may change the vault, which must then be stored. */
const CHANGING = new Set([
  "exec",
  "refresh_shares",
  "add_wrap",
  "remove_wrap",
  "sync_respond",
  "mint_ucan",
  "invoke_ucan",
  "publishing_key",
  "publish",
  "publishing_delegation",
]);
/** The fields that only the worker reads and that are not passed to the enclave. */
const OWN_FIELDS = new Set(["takeOver", "replace"]);
const OPEN_ELSEWHERE = "open_elsewhere";

/** A vault's session in a worker. */
export class WorkerSession {
  #tell;
  #inTurn = turns();
  #enclave: Enclave | null = null;
  #store = new VaultStore();
  #lock = null as VaultLock | null;
  #owner = crypto.randomUUID();
  #wasmVersion = "";
  #open = false;
  #behind = false;
  /** Whether all older revisions must be deleted when the next one is stored. */
  #forgetting = false;

  constructor(tell: (event: VaultEvent) => void) {
    this.#tell = tell;
  }

  /** Returns the reply to a message; a message that is not valid is refused in the reply. */
  async answer(message: unknown): Promise<{ reply: Reply; transfer: ArrayBuffer[] }> {
    const parsed = read(message);
    if ("refused" in parsed) {
      return {
        reply: {
          id: parsed.id,
          error: { name: "PluginCallError", functionName: "worker", message: parsed.refused, code: "invalid_message" },
        },
        transfer: [],
      };
    }
    const { request } = parsed;
    try {
      return crossing(request, await this.#inTurn(() => this.#run(request)));
    } catch (error) {
      return { reply: { id: request.id, error: described(error, request.fn) }, transfer: [] };
    } finally {
      const { key, keys } = request.args as Args<"remove_wrap"> & Args<"add_wrap">;
      for (const it of [key, ...(keys ?? [])]) wipe(it?.secret);
    }
  }

  async #run(request: Request) {
    const { fn, args } = request;
    if (fn === "boot") return this.#boot(args);
    if (!this.#enclave) throw new PluginCallError(fn, "the worker has not been booted");
    switch (fn) {
      case "stored":
        return this.#store.manifests();
      case "forget":
        return this.#forget(args.did);
      case "load":
      case "unlock":
        return this.#opened(args);
      case "lock":
        return this.#locked();
      case "generate":
      case "import":
      case "sync_complete":
        return this.#made(fn, args);
      default:
        return this.#called(request);
    }
  }

  async #boot({ wasmUrl, dbName, sha256 }: Args<"boot">) {
    this.#enclave?.wipe();
    this.#store = new VaultStore({ dbName: dbName ?? undefined });
    this.#lock ??= new VaultLock(this.#store.dbName, {
      onRequested: (why) => this.#giveUp(why),
      onTaken: () => this.#taken(),
    });
    const response = await fetch(wasmUrl ?? "");
    const copy = response.clone();
    const started = instantiate(response, { ...(sha256 && { sha256 }), after: (ms, work) => this.#after(ms, work) });
    [this.#enclave, this.#wasmVersion] = await Promise.all([started, digestOf(copy)]);
    return { wasmVersion: this.#wasmVersion, version: this.#call("version", {}) };
  }

  /**
   * Opens a vault from the given bytes or, without them, from the newest stored revision. This tab must first acquire
   * the vault's lock.
   */
  async #opened({ did, database, key, min_revision, takeOver = false }: Args<"load">) {
    const given = database && octets(database);
    const wanted = (given ? readHeader(given)?.did : did) ?? (await this.#store.load())?.did;
    if (!wanted) return { success: false, error: given ? "invalid_database" : "vault_uninitialized" };
    if (this.#open) return { success: false, error: "conflict" };
    if (!(await this.#lock?.acquire(wanted, takeOver))) return { success: false, error: OPEN_ELSEWHERE };
    // Read the store only after acquiring the lock, because the tab that held the lock may have written to it.
    const stored = await this.#store.load(wanted);
    const sealed = given ?? stored?.sealed;
    const least = Math.max(min_revision ?? 0, stored?.revision ?? 0);
    const answer = sealed ? this.#load(sealed, key, least) : { success: false, error: "vault_uninitialized" };
    if (answer.success && key) await this.#own(wanted).catch(this.#undone);
    else this.#lock?.release();
    return answer;
  }

  #load(sealed: Uint8Array, key: object | null | undefined, least: number) {
    return this.#call("load", { database: sealed, ...(key && { key }), ...(least && { min_revision: least }) });
  }

  /** Adds a created, imported or received vault to this browser profile. */
  async #made(
    fn: "generate" | "import" | "sync_complete",
    { replace = false, takeOver = false, ...args }: Args<"import">,
  ) {
    if (this.#open) return refusedVault(fn, "a vault is open in this tab: lock it first", "conflict");
    const answer = this.#call(fn, args) as { success?: boolean; did: string };
    if (answer.success === false) return answer;
    const failed = await this.#storeNew(answer.did, replace === true, takeOver).catch(this.#undone);
    if (failed === null) return answer;
    this.#call("lock", {});
    return refusedVault(fn, "the vault was not stored", failed);
  }

  /** @returns why the vault cannot be stored here; null if it can */
  async #storeNew(did: string, replace: boolean, takeOver: boolean | null): Promise<string | null> {
    if (!(await this.#lock?.acquire(did, takeOver))) return OPEN_ELSEWHERE;
    if (!replace && (await this.#store.load(did))) {
      this.#lock?.release();
      return "conflict"; // a vault of this DID is stored here, and is replaced only if the caller says so
    }
    await this.#own(did);
    await this.#save({ replace });
    return null;
  }

  /** Locks the vault again if this browser cannot store that it is open: the page is told that it is not. */
  #undone = (error: unknown) => {
    this.#closed(); // first, because a call of an enclave that has stopped throws
    this.#call("lock", {});
    throw error;
  };

  async #own(did: string) {
    await this.#store.own(did, this.#owner);
    this.#open = true;
    this.#tell({ type: "opened" });
  }

  async #called(request: Request) {
    const { fn, args } = request;
    this.#forgetting ||= fn === "save" && Boolean(args.forgetOlder);
    if (fn === "save") return this.#save();
    const answer = this.#call(fn, args) as { success?: boolean };
    if (answer.success !== false) noteRemoval(this.#ask, request);
    this.#forgetting ||= fn === "remove_wrap" && answer.success !== false;
    if (CHANGING.has(fn) && answer.success !== false) await this.#saveDue();
    return answer;
  }

  async #locked() {
    const answer = this.#call("lock", {});
    const sealed = answer.database && octets(answer.database);
    const header = sealed && readHeader(sealed);
    try {
      if (header && this.#open) await this.#keep(header, sealed);
    } finally {
      this.#closed();
    }
    return answer;
  }

  async #forget(did: string | null | undefined) {
    if (!did) throw new PluginCallError("forget", "did: which vault", "invalid_field");
    if (this.#lock?.did === did) await this.#locked();
    if (!(await this.#lock?.acquire(did)))
      throw new PluginCallError("forget", "the vault is open in another tab", OPEN_ELSEWHERE);
    await this.#store.delete(did);
    this.#lock?.release();
    return {};
  }

  async #saveDue() {
    if (!this.#open) return;
    if (this.#behind || this.#forgetting || this.#call("status", {}).unsaved) await this.#save();
  }

  /** Seals and stores the vault. If storing fails, the revision is stored later. */
  async #save(options?: SaveOptions) {
    this.#behind = true;
    const answer = this.#call("save", {});
    const sealed = octets(answer.database);
    const header = readHeader(sealed);
    if (!header) throw new PluginCallError("save", "the sealed vault does not have the documented form");
    await this.#keep(header, sealed, options);
    return answer;
  }

  async #keep(
    { did, revision }: { did: string; revision: number },
    sealed: Uint8Array<ArrayBuffer>,
    options: SaveOptions = {},
  ) {
    const before = await this.#store.load(did);
    if (before?.revision === revision && !options.replace) return;
    const forgetOlder = this.#forgetting;
    const manifest = {
      rootCid: forgetOlder || options.replace ? null : (before?.manifest.rootCid ?? null),
      did,
      updatedAt: Date.now(),
      wasmVersion: this.#wasmVersion,
      schemaVersion: 1 as 1,
    };
    try {
      await this.#store.save(manifest, sealed, revision, { ...options, forgetOlder, owner: this.#owner });
      this.#behind = this.#forgetting = false;
      this.#tell({ type: "stored" });
    } catch (error) {
      if (error instanceof NotOwner) this.#taken();
      throw error;
    }
  }

  /** Stores unsaved changes and locks the vault, because another tab has requested the vault. */
  async #giveUp(why: string) {
    await this.#inTurn(() =>
      this.#locked().then(
        () => this.#tell({ type: "locked", why }),
        () => this.#taken(),
      ),
    );
  }

  /** Erases the vault in this worker, because another tab has taken it over. */
  #taken() {
    this.#enclave?.wipe();
    this.#closed();
    this.#tell({ type: "taken" });
  }

  #closed() {
    this.#open = this.#behind = this.#forgetting = false;
    this.#lock?.release();
  }

  /** Makes the host check whether the vault must lock. Notifies the page if the vault has locked. */
  #after(ms: number, work: () => void) {
    const timer = setTimeout(() => {
      work();
      if (this.#open && this.#isLocked()) void this.#lockedItself();
    }, ms);
    return () => clearTimeout(timer);
  }

  /** Stores a revision that could not be stored before, from the sealed bytes that the enclave has retained. */
  async #lockedItself() {
    if (this.#behind) await this.#inTurn(() => this.#locked()).catch(() => {});
    this.#closed();
    this.#tell({ type: "locked" });
  }

  #isLocked() {
    return this.#enclave?.closed || this.#call("status", {}).locked;
  }

  #ask = (fn: "exec", args: object) => this.#call(fn, args);

  #call<Fn extends string>(fn: Fn, args: object) {
    const fields = Object.entries(args).filter(([name]) => !OWN_FIELDS.has(name));
    return (this.#enclave as Enclave).call(fn, Object.fromEntries(fields));
  }
}

/**
 * Returns the response that refuses a new vault. A refusal of `generate` is thrown, because GenerateOutput has no field
 * for an error.
 */
function refusedVault(fn: string, message: string, code: string) {
  if (fn === "generate") throw new PluginCallError(fn, message, code);
  return { success: false, error: code };
}

/** Builds the reply, whose bytes are in buffers that are transferred rather than copied. */
function crossing({ id, fn }: Request, result: object) {
  const field = OCTETS[fn];
  const bytes = (result as Record<string, unknown>)[field];
  if (typeof bytes !== "string") return { reply: { id, result }, transfer: [] };
  const moved = fromBase64(bytes).buffer;
  return { reply: { id, result: { ...result, [field]: moved } }, transfer: [moved] };
}

function described(error: unknown, functionName: string): WorkerError {
  if (error instanceof PluginCallError) {
    const message = error.message.slice(`${error.functionName}: `.length);
    return { name: "PluginCallError", functionName, message, code: error.code };
  }
  if (error instanceof StorageError) return { name: "StorageError", message: error.message.slice("Storage: ".length) };
  const name = functionName === "boot" ? "WasmLoadError" : "PluginCallError";
  const message = error instanceof Error ? error.message.replace(/^WASM load failed: /, "") : "failed";
  return { name, functionName, message, code: null };
}

function wipe(secret: unknown) {
  if (secret instanceof ArrayBuffer || ArrayBuffer.isView(secret)) bytesOf(secret as BufferSource).fill(0);
}

/** @param value of a binary field */
function octets(value: string | number[] | BufferSource) {
  return typeof value === "string" ? fromBase64(value) : bytesOf(value);
}

async function digestOf(response: Response) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await response.arrayBuffer()));
  return toHex(hash).slice(2);
}
