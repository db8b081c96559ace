/**
 * Recovers a vault from a passkey alone: the passkey's user handle identifies the record, the record points to the
 * snapshot, and the passkey's PRF output decrypts it.
 */

import { fromBase64, isSame } from "../bytes.ts";
import type { Client } from "../client.ts";
import type { VaultKey } from "../passkeys/secrets.ts";
import type { VaultStore } from "../vault/store.ts";
import type { Vault } from "../vault/vault.ts";
import { ContentError } from "./content_error.ts";
import { type RecoveryCode, RecoveryRefused, SnapshotRolledBack } from "./errors.ts";
import type { SnapshotHosts } from "./hosts.ts";
import { OtherKeys, copied, openedBeside } from "./versions.ts";
import {
  ClientStateError,
  PluginCallError,
  RequestRefused,
  ServiceError,
  WebAuthnError,
  insteadOf,
} from "../errors.ts";
import { passkeyKey, type UsedPasskey, usePasskey } from "../passkeys/use.ts";
import { readHeader, wrapsOf } from "../vault/sealed_header.ts";
import { failure, type NameAnswers, plainReason, ServersFailed } from "./name_records.ts";
import { PUBLIC_KEY_BYTES, didKeyOf, nameOf } from "./names.ts";
import { OLDER } from "../generated/snapshot_retries.ts";
import { type IpnsRecord, isExpired } from "./records.ts";
import { type Snapshot, snapshotOfCar } from "./roots.ts";
import { pinnedState, readState, recordNote, writeState } from "./state.ts";

/**
 * the servers that did not answer; when the snapshot that may be used was sealed, in Unix milliseconds; and when the
 * newest was, if the key does not open it
 */
export type Unconfirmed = { places: string[]; updatedAt: number; newestAt?: number };

/** numbers of blocks; or servers, by host */
type Progress = { done?: number; all?: number; places?: string[] };

/** unanswered: some servers did not answer */
type RecoveryStep =
  "passkey chosen" | "unanswered" | "record verified" | "fetching" | "snapshot verified" | "vault opened";

export interface RecoveryOptions {
  /** what `usePasskey` returned; without it or a `key`, the person is prompted */ passkey?: UsedPasskey;
  /** what opens the vault instead of the passkey's PRF output, such as a password */ key?: VaultKey;
  /** the IPNS name, for a passkey whose user handle is not the publishing key */ name?: string;
  /** a snapshot's CAR file, to be used instead of the published snapshot */ car?: Uint8Array<ArrayBuffer>;
  /**
   * called before a snapshot is accepted that has an expired record or is older than one that this browser has seen;
   * and, as unconfirmed, one that may be old because the service did not answer, or is, because the key does not open
   * the newest
   */
  accept?: (
    reason: "expired" | "rolled_back" | "unconfirmed",
    error: Error,
    about?: Unconfirmed,
  ) => Promise<boolean> | boolean;
  onProgress?: (step: RecoveryStep, progress?: Progress) => void;
}

export interface Recovered {
  did: string;
  /** the snapshot */ rootCid: string;
  revision: number;
  /** when it was sealed, in Unix milliseconds */ updatedAt: number;
  /** of the record; null for a snapshot from a CAR file */ sequence: number | null;
  /**
   * the newest snapshot, if the key does not open it; the vault then comes from the newest snapshot that the key opens,
   * which the person accepted
   */
  newer: { rootCid: string; updatedAt: number } | null;
}

type Found = { snapshot: Snapshot; record: IpnsRecord | null; revision: number; atService?: boolean };

const NOTHING: NameAnswers = { newest: null, failed: [], hasMain: true, atMain: false };
const PUBLISH = "/snapshots/publish";
/** Lengths of user handles that begin with the publishing key; 32 random bytes follow in a passkey made for another page. */
const HANDLES = [PUBLIC_KEY_BYTES, 2 * PUBLIC_KEY_BYTES];
/** The end of the year 9999. */
const LAST_MS = 253_402_300_799_000;
const ABSENT = "no snapshot is published under this name: every server that was asked says so";
const BEHIND = "the newest snapshot does not open with the key that recovered this vault";
/** The recovery codes for errors in content. All other content codes become "damaged". */
const CODES: Record<string, RecoveryCode> = {
  block_missing: "incomplete",
  cut_short: "incomplete",
  unsupported: "unsupported",
};
/** The refusals for the enclave's codes. */
const REFUSALS: Record<string, [RecoveryCode, string]> = {
  wrong_key: ["wrong_key", "this key does not open the vault: it belongs to another one, or was removed"],
  stale_revision: ["stale", "this device has a newer version of the vault than the snapshot"],
  open_elsewhere: ["open_elsewhere", "this vault is open in another tab: lock it there"],
};

/** One recovery into this browser's vault. */
export class Recovery {
  #client;
  #store;
  #hosts;
  #options;

  constructor(client: Client, store: VaultStore, hosts: SnapshotHosts, options: RecoveryOptions) {
    this.#client = client;
    this.#store = store;
    this.#hosts = hosts;
    this.#options = options;
  }

  /** @throws {RecoveryRefused | SnapshotRolledBack | NetworkError | WebAuthnError} */
  async recover(): Promise<Recovered> {
    const { key, name, car } = this.#options;
    if (!(await this.#client.vault.status()).locked) throw new ClientStateError("a vault is open here: lock it first");
    const passkey =
      this.#options.passkey ?? (key && (name || car) ? null : await usePasskey({ rpId: this.#client.rpId }));
    if (passkey && !passkey.hasKey && !key) throw withoutKey();
    if (passkey) this.#tell("passkey chosen");
    const found = car ? await this.#ofCar(car) : await this.#ofName(passkey);
    await this.#compared(found);
    const opened = await this.#opened(found, key ?? (await this.#keyOf(passkey as UsedPasskey)));
    return this.#stored(opened, found);
  }

  /** Opens the newest snapshot, or an older one that the key opens, if the person accepts that one. */
  async #opened(newest: Found, key: VaultKey): Promise<Found> {
    const refused = await this.#open(newest, copied(key));
    if (!refused) return newest;
    const older = refused.code === "wrong_key" ? await this.#older(newest, key) : null;
    if (!older) throw refused;
    const [newestAt, updatedAt] = [newest, older].map((it) => it.snapshot.manifest.updatedAt);
    const words = `the newest snapshot, from ${utc(newestAt)}, cannot be opened with this key; the one from ${utc(updatedAt)} can, but lacks what was changed since`;
    const refusal = new RecoveryRefused("unconfirmed", words, { cause: refused });
    await this.#ask("unconfirmed", refusal, { places: [], updatedAt, newestAt });
    const since = await this.#open(older, copied(key));
    if (since) throw since;
    return older;
  }

  /** Returns the newest of the older snapshots that the key opens. The vault stays closed. */
  async #older(newest: Found, key: VaultKey): Promise<Found | null> {
    const least = (await this.#store.load(newest.snapshot.manifest.did))?.revision ?? 0;
    const tried = new Set(newWraps(newest, key));
    let found = await this.#before(newest);
    for (let count = 1; found; count += 1) {
      const fresh = newWraps(found, key, tried);
      if (fresh.length && found.revision >= least) {
        const opened = openedBeside(this.#client.vault, found.snapshot, copied(key), async () => true);
        if (await opened.catch(insteadOf([OtherKeys, PluginCallError], false))) return found;
      }
      fresh.forEach((it) => tried.add(it));
      found = count < OLDER ? await this.#before(found) : null;
    }
    return null;
  }

  /** Verifies and returns the snapshot before the given one; returns null if none exists or it is no longer stored. */
  async #before({ snapshot: { manifest }, record }: Found): Promise<Found | null> {
    if (!manifest.rootCid || !record) return null;
    const verified = this.#hosts.gateways
      .snapshot(manifest.rootCid)
      .then(async (snapshot) => ({ snapshot, record, revision: await this.#checked(snapshot, record.publicKey) }));
    const found = await verified.catch(insteadOf([ContentError, ServiceError], null));
    return found?.snapshot.manifest.did === manifest.did ? found : null;
  }

  async #keyOf(passkey: UsedPasskey) {
    try {
      return await passkeyKey(passkey, { rpId: this.#client.rpId });
    } catch (cause) {
      throw cause instanceof WebAuthnError && cause.reason === "no_prf" ? withoutKey(cause) : cause;
    }
  }

  /**
   * Reads the snapshot in a CAR file, which has no record. The vault belongs to the person if their secret opens it.
   */
  async #ofCar(car: Uint8Array<ArrayBuffer>): Promise<Found> {
    const snapshot = await readable(() => snapshotOfCar(car));
    return { snapshot, record: null, revision: await this.#checked(snapshot, null) };
  }

  async #ofName(passkey: UsedPasskey | null): Promise<Found> {
    const { newest: record, failed, hasMain, atMain } = await readable(() => this.#answers(passkey));
    if (!record && failed.length)
      await readable(() => Promise.reject(failure("no snapshot was found, and not every server answered", failed)));
    if (!record) throw new RecoveryRefused("no_snapshot", ABSENT);
    const silent = failed.map(({ http }) => http.host);
    if (silent.length) this.#tell("unanswered", { places: silent });
    this.#tell("record verified");
    if (isExpired(record, Date.now())) {
      const words = "the newest snapshot's record is authentic but has expired; there may be a newer snapshot";
      await this.#ask("expired", new RecoveryRefused("expired", words));
    }
    const fetched = () =>
      this.#hosts.gateways.snapshot(record.rootCid, (done, all) => this.#tell("fetching", { done, all }));
    const snapshot = await readable(fetched);
    const revision = await this.#checked(snapshot, record.publicKey);
    this.#tell("snapshot verified");
    if (!hasMain) {
      // Any server that once had a record can return it for years, so an old record looks like the newest.
      const { updatedAt } = snapshot.manifest;
      const words = `${silent.join(", ")} did not answer, so there may be a newer copy: the newest one that was found is from ${utc(updatedAt)}`;
      await this.#ask("unconfirmed", new RecoveryRefused("unconfirmed", words), { places: silent, updatedAt });
    }
    return { snapshot, record, revision, atService: atMain };
  }

  /**
   * Returns the answers about the given name or the passkey's user handle. An old passkey's user handle is random, so
   * the service is asked for the passkey's IPNS name, which it may have stored.
   */
  async #answers(passkey: UsedPasskey | null): Promise<NameAnswers> {
    const { gateways } = this.#hosts;
    if (this.#options.name) return gateways.answers(this.#options.name);
    const handle = fromBase64(passkey?.userHandle ?? "");
    const key = handle.slice(0, PUBLIC_KEY_BYTES);
    const found = HANDLES.includes(handle.length) ? await gateways.answers(nameOf(key)) : NOTHING;
    if (found.newest || found.failed.length || !passkey) return found;
    const named = await this.#hosts.nameOf(passkey.credentialId);
    return named === null ? found : gateways.answers(named);
  }

  /** @returns the vault's revision */
  async #checked(snapshot: Snapshot, publicKey: Uint8Array | null): Promise<number> {
    const { revision } = checkWhole(snapshot);
    if (publicKey || snapshot.manifest.delegation) await checkBinding(this.#client.vault, snapshot, publicKey);
    return revision;
  }

  async #compared({ snapshot, record }: Found) {
    const known = await readState(this.#store, snapshot.manifest.did);
    if (!record || record.sequence >= known.sequence) return;
    await this.#ask("rolled_back", new SnapshotRolledBack(known.sequence, record.sequence));
  }

  async #ask(reason: "expired" | "rolled_back" | "unconfirmed", refusal: Error, about?: Unconfirmed) {
    if (!(await this.#options.accept?.(reason, refusal, about))) throw refusal;
  }

  /** @returns why it does not open */
  async #open({ snapshot: { sealed, manifest } }: Found, key: VaultKey): Promise<RecoveryRefused | null> {
    // Pass a copy, because the buffer may be transferred to the worker.
    const { success, error } = await this.#client.vault
      .unlock(key, { database: sealed.slice() }, { did: manifest.did })
      .catch(failedCall);
    if (!success) return refusalOf(error);
    this.#tell("vault opened");
    return null;
  }

  async #stored(found: Found, newest: Found): Promise<Recovered> {
    const { record, revision } = found;
    const { rootCid, manifest, sealed } = found.snapshot;
    const { did, updatedAt, wasmVersion, schemaVersion } = manifest;
    const stored = await this.#store.load(did);
    if (!stored || stored.revision < revision)
      await this.#store.save({ rootCid, did, updatedAt, wasmVersion, schemaVersion }, sealed, revision);
    // Another device's change, which would not be stored under the same number.
    else if (!isSame(stored.sealed, sealed)) await this.#client.vault.save();
    const sequence = record?.sequence ?? null;
    const { snapshot } = newest;
    const newer = found === newest ? null : { rootCid: snapshot.rootCid, updatedAt: snapshot.manifest.updatedAt };
    let state = pinnedState(found.snapshot, revision, sequence ?? 0, this.#hosts.service);
    if (record && !newer) await this.#store.setNote(recordNote(did), record.data);
    // The service may lack a snapshot from a file or from another gateway.
    if (!found.atService) state = { ...state, status: "queued", acknowledgedRevision: 0 };
    // If a newer snapshot exists, the person must choose first.
    if (newer)
      state = { ...state, status: "conflict", acknowledgedRevision: 0, reason: BEHIND, otherRoot: newer.rootCid };
    await writeState(this.#store, state);
    return { did, rootCid, revision, updatedAt, sequence, newer };
  }

  #tell(step: RecoveryStep, progress?: Progress) {
    this.#options.onProgress?.(step, progress);
  }
}

/** Checks that the root and the sealed vault contain the same DID. @throws {RecoveryRefused} `damaged` */
function checkWhole({ sealed, manifest }: Snapshot): { did: string; revision: number } {
  const header = readHeader(sealed);
  if (!header) throw new RecoveryRefused("damaged", "the snapshot holds no sealed vault");
  if (header.did !== manifest.did)
    throw new RecoveryRefused("damaged", "the snapshot names another DID than the vault in it");
  return header;
}

/**
 * Checks that the vault's key has authorised the publishing key to publish its snapshots. If `publicKey` is null, any
 * publishing key is accepted. A did:new is the hash of its key, so the delegation is verified without asking a service.
 * @param vault its enclave verifies the delegation; the vault need not be open
 * @throws {RecoveryRefused} `damaged`
 */
async function checkBinding(vault: Vault, { manifest: { delegation, did } }: Snapshot, publicKey: Uint8Array | null) {
  const unnamed = "the snapshot carries no delegation to the key that named it: it may be someone else's";
  if (!delegation) throw new RecoveryRefused("damaged", unnamed);
  const audience = publicKey ? { audience: didKeyOf(publicKey) } : {};
  try {
    await vault.verifyUcan(Uint8Array.from(delegation), { ...audience, subject: did, command: PUBLISH, args: {} });
  } catch (cause) {
    if (!(cause instanceof PluginCallError)) throw cause;
    const why = `the snapshot is not named by its vault's key: the delegation does not hold (${cause.code})`;
    throw new RecoveryRefused("damaged", why, { cause });
  }
}

/** @param ms Unix milliseconds; later than the year 9999: its end */
function utc(ms: number) {
  return `${new Date(Math.min(ms, LAST_MS)).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Returns the wraps of a snapshot that a key may open, without those already tried. */
function newWraps({ snapshot: { sealed } }: Found, key: VaultKey, tried: Set<string> = new Set()) {
  const isPassword = key.kind === "password"; // which may open every wrap of its kind
  return wrapsOf(sealed)
    .filter(({ kind, id, bytes }) => key.kind === kind && (isPassword || key.id === id) && !tried.has(bytes))
    .map(({ bytes }) => bytes);
}

function withoutKey(cause?: Error) {
  const words = "this passkey returns no secret (PRF) here: choose another one, or open the vault with its password";
  return new RecoveryRefused("no_prf", words, { cause });
}

/** Runs `work`, and turns an error about the snapshot's bytes into a RecoveryRefused with the same message. */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ContentError)
      throw new RecoveryRefused(CODES[cause.code] ?? "damaged", cause.message, { cause });
    if (cause instanceof ServersFailed && cause.failed.every(({ error }) => error instanceof ContentError))
      throw new RecoveryRefused("damaged", plainReason(cause), { cause });
    if (isMissing(cause))
      throw new RecoveryRefused("incomplete", "a block of the snapshot is missing at all gateways", { cause });
    throw cause;
  }
}

/** Whether none of the servers that were asked has the block. */
function isMissing(cause: unknown): boolean {
  if (cause instanceof ServersFailed) return cause.failed.every(({ error }) => isMissing(error));
  return cause instanceof RequestRefused && cause.status === 404;
}

function failedCall(error: unknown) {
  if (error instanceof PluginCallError) return { success: false, error: error.code ?? undefined };
  throw error;
}

function refusalOf(code?: string) {
  const known = REFUSALS[code ?? ""];
  if (known) return new RecoveryRefused(...known);
  return new RecoveryRefused("unopened", `the vault in the snapshot does not open (${code ?? "no reason given"})`);
}
