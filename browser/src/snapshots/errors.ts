/** Errors that say why a snapshot was not published or a vault was not recovered. */

import { ContentError } from "./content_error.ts";
import { RequestRefused, StorageError } from "../errors.ts";

/**
 * The published record points to an older snapshot than the newest one that this browser has seen. Nothing was changed.
 */
export class SnapshotRolledBack extends StorageError {
  declare known: number;
  declare found: number;

  /**
   * @param known the highest sequence that this browser has seen
   * @param found the sequence of the published record
   */
  constructor(known: number, found: number) {
    super(
      `rolled back: the newest snapshot that can be found has sequence ${found}, and this device has seen ${known};` +
        " ask another gateway, or accept the older one",
    );
    this.name = "SnapshotRolledBack";
    this.known = known;
    this.found = found;
  }
}

/** Another device published a snapshot that lacks this device's changes. Nothing was merged or changed. */
export class SnapshotConflict extends StorageError {
  declare otherRoot: string;

  /** @param otherRoot the other device's snapshot */
  constructor(otherRoot: string) {
    super("another device has changed the vault too: both versions are kept; compare them, then choose one");
    this.name = "SnapshotConflict";
    this.otherRoot = otherRoot;
  }
}

/**
 * The reason why a vault was not recovered. `unconfirmed`: the service did not answer, so the snapshot may be an old
 * one, or the key opens only an old one (the error's `cause` is then the refusal `wrong_key`); `incomplete`: blocks of
 * the published snapshot are missing; `damaged`: the bytes were changed, or belong to another vault; `unopened`: the
 * enclave refuses the bytes; `unsupported`: this browser cannot verify the record's signature.
 */
type SnapshotCode = "no_prf" | "no_snapshot" | "expired" | "unconfirmed" | "wrong_key" | "stale" | "incomplete";

/** each list on one line, because TypeScript copies the asterisks of a comment into its declarations */
export type RecoveryCode = SnapshotCode | "damaged" | "unopened" | "open_elsewhere" | "unsupported";

/** The vault was not recovered, and nothing was stored. */
export class RecoveryRefused extends StorageError {
  declare code: RecoveryCode;

  constructor(code: RecoveryCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RecoveryRefused";
    this.code = code;
  }
}

/** Runs `work`, and turns a ContentError into a StorageError, which the client documents. */
export async function asStorageErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof ContentError ? new StorageError(cause.message, { cause }) : cause;
  }
}

/** Returns the service's own reason for an error if the service sent one, otherwise the error's message. */
export function reasonOf(error: unknown): string {
  if (error instanceof RequestRefused && error.details) return `${error.code}: ${error.details}`;
  return error instanceof Error ? error.message : String(error);
}
