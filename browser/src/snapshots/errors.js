/** Why a snapshot was not written, or a vault not recovered. */

import { ContentError } from "./content_error.js";
import { RequestRefused, StorageError } from "./library.js";

/** The place names an older snapshot than this browser has seen. Nothing was changed. */
export class SnapshotRolledBack extends StorageError {
  /**
   * @param {number} known the sequence that this browser has seen
   * @param {number} found the one that is published now
   */
  constructor(known, found) {
    super(
      `rolled back: the newest snapshot that can be found has sequence ${found}, and this browser has seen ${known};` +
        " ask another gateway, or accept the older one",
    );
    this.name = "SnapshotRolledBack";
    this.known = known;
    this.found = found;
  }
}

/** Another device published a snapshot that does not contain this one's. Nothing was merged or changed. */
export class SnapshotConflict extends StorageError {
  /** @param {string} otherRoot the other device's snapshot */
  constructor(otherRoot) {
    super("another device has changed the vault too: both versions are kept; compare them, then choose one");
    this.name = "SnapshotConflict";
    this.otherRoot = otherRoot;
  }
}

/**
 * Why a vault was not recovered. `incomplete`: the name leads to a snapshot of which blocks are missing; `damaged`: bytes
 * that were changed, or that belong to another vault; `unopened`: the vault's program refuses the bytes; `unsupported`:
 * this browser cannot verify the record's signature.
 *
 * @typedef {"no_prf" | "no_snapshot" | "expired" | "wrong_key" | "stale" | "incomplete" | "damaged" | "unopened" |
 *   "open_elsewhere" | "unsupported"} RecoveryCode
 */

/** The vault was not recovered, and nothing was stored. */
export class RecoveryRefused extends StorageError {
  /**
   * @param {RecoveryCode} code
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = "RecoveryRefused";
    this.code = code;
  }
}

/**
 * Runs work whose errors are all the client's: bytes that are not of their form end in StorageError.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function asStorageErrors(work) {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof ContentError ? new StorageError(cause.message, { cause }) : cause;
  }
}

/**
 * The sentence of an error, in the words of the service where it gave any.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function reasonOf(error) {
  if (error instanceof RequestRefused) {
    const { details, reason } = /** @type {any} */ (error.body)?.error ?? {};
    if (typeof details === "string") return `${reason ?? error.code}: ${details}`;
  }
  return error instanceof Error ? error.message : String(error);
}
