/** Stores the vaults of this browser profile in IndexedDB: the latest revisions of each vault, and notes. */

import { isSame } from "../bytes.ts";
import { StorageError } from "../errors.ts";
import type { VaultManifest, VaultStoreConfig } from "../generated/types.ts";

const VERSION = 1;
/** The interface's default. */
export const DEFAULT_DB_NAME = "holdfast-vault";
const RETAINED_REVISIONS = 3;
const SENT = "pages:sent";
const ABOUT_A_VAULT = ["registration", "snapshots:other", "snapshots:record", "pages:facts", SENT];

/** Returns the name of the note of the first revision that a removed key cannot open. */
export function forgottenNote(did: string) {
  return `snapshots:forgotten:${did}`;
}

/**
 * Returns what remains of a deleted vault's note about its snapshots: a vault that is imported later is their
 * successor, and its revisions start again.
 */
export function ofDeleted({ acknowledgedRoot, sentRoot, sequence }: Record<string, unknown>) {
  return { acknowledgedRoot, sentRoot, sequence };
}

/** Returns the name of the note that lists a vault's payments. */
export function sentNote(did: string) {
  return `${SENT}:${did}`;
}

type StoredVault = { did: string; revision: number; manifest: VaultManifest; sealed: Uint8Array<ArrayBuffer> };

/**
 * `owner`: the worker that has the vault open; a former owner cannot write. `forgetOlder`: deletes all earlier
 * revisions. `replace`: deletes all other revisions, whatever their numbers
 */
export type SaveOptions = { owner?: string; forgetOlder?: boolean; replace?: boolean };

/** Opens a database for one piece of work. */
export async function withStore<T>(work: (store: VaultStore) => Promise<T>, dbName?: string): Promise<T> {
  const store = new VaultStore({ dbName });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/**
 * One database. A revision and the pointer to it are stored in one transaction.
 *
 * Every method throws StorageError if the browser's storage fails.
 */
export class VaultStore {
  declare dbName: string;

  #opened: Promise<IDBDatabase> | null = null;

  constructor({ dbName = DEFAULT_DB_NAME }: VaultStoreConfig = {}) {
    this.dbName = dbName;
  }

  /** Closes the database. Another call opens it again. */
  async close() {
    const opened = this.#opened;
    this.#opened = null;
    (await opened?.catch(() => null))?.close();
  }

  /** @returns the newest manifest of each vault */
  async manifests(): Promise<VaultManifest[]> {
    return this.#read("vaults", async (vaults) => {
      const rows = await done<StoredVault[]>(vaults.getAll());
      return [...new Map(rows.map((row) => [row.did, row.manifest])).values()];
    });
  }

  /**
   * Returns the newest revision of a vault.
   *
   * @param did by default that of the only stored vault
   */
  async load(did?: string): Promise<StoredVault | null> {
    const wanted = did ?? (await this.#onlyDid());
    if (wanted === null) return null;
    return this.#read("vaults", async (vaults) => (await newest(vaults, wanted))?.value ?? null);
  }

  /** Stores a revision, which must be newer than all stored ones, so that a vault never returns to an earlier state. */
  async save(
    manifest: VaultManifest,
    sealed: Uint8Array<ArrayBuffer>,
    revision: number,
    { owner, forgetOlder = false, replace = false }: SaveOptions = {},
  ) {
    const { did } = manifest;
    await this.#write(["vaults", "owners", "notes"], async (vaults, owners, notes) => {
      // Without an owner, the site's data were deleted: this worker may have the only copy.
      if (owner && owner !== ((await done(owners.get(did))) ?? owner)) throw new NotOwner();
      const last = (await newest(vaults, did))?.value.revision ?? 0;
      if (revision <= last && !replace)
        throw new StorageError(`revision ${revision} is not newer than the stored ${last}`);
      if (replace || forgetOlder) vaults.delete(every(did));
      else vaults.delete(IDBKeyRange.bound([did, 0], [did, Math.max(0, revision - RETAINED_REVISIONS)]));
      vaults.put({ did, revision, manifest, sealed });
      if (forgetOlder) notes.put(revision, forgottenNote(did));
    });
  }

  /**
   * Makes a worker the only one that may write to a vault.
   *
   * @param owner random
   */
  async own(did: string, owner: string) {
    await this.#write(["owners"], async (owners) => void owners.put(owner, did));
  }

  /**
   * Replaces the newest revision's manifest after a snapshot of `sealed` has been published. A vault that was changed
   * or imported since keeps its manifest; an imported one may have the same revision.
   */
  async updateManifest(manifest: VaultManifest, sealed: Uint8Array<ArrayBuffer>) {
    await this.#write(["vaults"], async (vaults) => {
      const cursor = await newest(vaults, manifest.did);
      if (cursor && isSame(cursor.value.sealed, sealed)) cursor.update({ ...cursor.value, manifest });
    });
  }

  /**
   * Deletes a vault, all its revisions and the notes about it. What this browser knows of the published snapshots
   * remains (decision 0622), and an owner that is not a worker, so that a tab that lost the vault does not store it again.
   */
  async delete(did: string) {
    await this.#write(["vaults", "owners", "notes"], async (vaults, owners, notes) => {
      vaults.delete(every(did));
      owners.put("", did);
      ABOUT_A_VAULT.forEach((name) => notes.delete(IDBKeyRange.bound(`${name}:${did}`, `${name}:${did};`)));
      const published = await done(notes.get(`snapshots:${did}`));
      if (published) notes.put(ofDeleted(published), `snapshots:${did}`);
      if (await done(notes.count(forgottenNote(did)))) notes.put(0, forgottenNote(did));
    });
  }

  /**
   * Returns a note, which is the state from which an interrupted flow continues.
   *
   * @returns `T`: as declared where it is stored; null if it is absent
   */
  async note<T>(name: string): Promise<T | null> {
    return this.#read("notes", async (notes) => (await done<T>(notes.get(name))) ?? null);
  }

  /** Writes a note, or deletes it if the value is null. */
  async setNote(name: string, value: unknown) {
    await this.#write(["notes"], async (notes) => void (value === null ? notes.delete(name) : notes.put(value, name)));
  }

  /**
   * Changes a note in one transaction, so that no change of another window is lost.
   *
   * @param change gets the note, null if it is absent, and returns the new one
   */
  async changeNote<T>(name: string, change: (before: T | null) => T) {
    await this.#write(["notes"], async (notes) => {
      notes.put(change((await done<T>(notes.get(name))) ?? null), name);
    });
  }

  /**
   * Replaces several notes in one transaction if all of them still have the expected values.
   *
   * @param changes by name: the expected value (null: no note) and the new one
   * @returns false if a value differs; nothing is changed then
   */
  async replaceNotes(changes: Record<string, [unknown, unknown]>): Promise<boolean> {
    let same = true;
    await this.#write(["notes"], async (notes) => {
      for (const [name, [expected]] of Object.entries(changes)) {
        same &&= ((await done(notes.get(name))) ?? null) === expected;
      }
      if (same)
        Object.entries(changes).forEach(([name, [, value]]) =>
          value === null ? notes.delete(name) : notes.put(value, name),
        );
    });
    return same;
  }

  async #onlyDid() {
    const manifests = await this.manifests();
    if (manifests.length > 1) throw new StorageError("several vaults are stored: name one by its DID");
    return manifests[0]?.did ?? null;
  }

  async #read<T>(name: string, work: (store: IDBObjectStore) => Promise<T>): Promise<T> {
    return stored(async () => work((await this.#database()).transaction(name, "readonly").objectStore(name)));
  }

  async #write(names: string[], work: (...stores: IDBObjectStore[]) => Promise<void>) {
    await stored(async () => {
      const transaction = (await this.#database()).transaction(names, "readwrite", { durability: "strict" });
      const committed = finished(transaction);
      try {
        await work(...names.map((name) => transaction.objectStore(name)));
      } catch (error) {
        committed.catch(() => {});
        transaction.abort();
        throw error;
      }
      await committed;
    });
  }

  #database() {
    this.#opened ??= opened(this.dbName, () => void this.close());
    this.#opened.catch(() => (this.#opened = null));
    return this.#opened;
  }
}

/** Another worker has taken the vault over. */
export class NotOwner extends StorageError {
  constructor() {
    super("the vault was opened elsewhere: this tab writes it no more");
  }
}

/** @param onOutdated called when another tab is about to upgrade or delete the database */
async function opened(name: string, onOutdated: () => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("vaults", { keyPath: ["did", "revision"] });
    for (const plain of ["owners", "notes", "blocks"]) request.result.createObjectStore(plain);
  };
  const database = await done(request);
  database.onversionchange = onOutdated;
  database.onclose = onOutdated;
  return database;
}

function every(did: string) {
  return IDBKeyRange.bound([did, 0], [did, Infinity]);
}

function newest(vaults: IDBObjectStore, did: string): Promise<(IDBCursorWithValue & { value: StoredVault }) | null> {
  return done(vaults.openCursor(every(did), "prev"));
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function finished(transaction: IDBTransaction) {
  return new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () =>
      reject(transaction.error ?? new DOMException("the transaction was aborted", "AbortError"));
  });
}

async function stored<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    const name = cause instanceof Error ? cause.name : "";
    const why = name === "QuotaExceededError" ? "this browser has no room left" : "this browser's storage failed";
    throw new StorageError(`${why} (${name})`, { cause });
  }
}
