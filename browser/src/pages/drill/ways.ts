/** Lists the ways back into a vault and when each was last tested. Pure functions. */

import type { SnapshotState } from "../../snapshots/state.ts";

export type Way = "passkey" | "password" | "copy" | "file" | "device" | "account";

/**
 * when each way last opened the vault, in milliseconds since 1970; for a passkey under `passkey:` and the name of its
 * vault key
 */
export type Tried = Partial<Record<string, number>>;

export type Row = { way: Way; there: boolean; triedAt: number | null };

interface Known {
  /** the keys that open the vault in this browser */ wraps: { kind: string; id: string }[];
  /** when a backup file was saved */ backupAt: number | undefined;
  /** the state of the service's copy */ snapshot: SnapshotState | null;
  tried: Tried;
}

/** Returns the name under which the test of a passkey is recorded. */
export const passkeyMark = (keyId: string) => `passkey:${keyId}`;

/** Returns the ways back into the vault for a person who loses the passkey that they use every day. */
export function ways({ wraps, backupAt, snapshot, tried }: Known): Row[] {
  const passkeys = wraps.filter((it) => it.kind === "prf").map((it) => tried[passkeyMark(it.id)] ?? null);
  const used = passkeys.filter((it) => it !== null).sort((one, other) => other - one);
  const rows: Row[] = [
    // The most recently used passkey is assumed to be lost, so the second most recently used one is the way back.
    { way: "passkey", there: passkeys.length > 1, triedAt: used[1] ?? null },
    { way: "copy", there: Boolean(snapshot?.acknowledgedRoot), triedAt: tried.copy ?? null },
    { way: "file", there: Boolean(backupAt), triedAt: newer(tried.file, backupAt) },
    { way: "device", there: Boolean(tried.device || tried.paired), triedAt: tried.device ?? null },
    { way: "account", there: Boolean(tried.account), triedAt: tried.account ?? null },
  ];
  if (!wraps.some((it) => it.kind === "password")) return rows;
  return [{ way: "password", there: true, triedAt: tried.password ?? null }, ...rows];
}

/** A test of a backup file proves nothing about a file saved later. */
function newer(triedAt: number | undefined, savedAt: number | undefined) {
  return triedAt && triedAt >= (savedAt ?? 0) ? triedAt : null;
}

/**
 * Returns which losses the person's tests cover: losing only the passkey, and losing the whole browser.
 * After the browser is lost, the service's copy helps only if the key that opened it also exists elsewhere
 * (`copyElsewhere`).
 */
export function survives(rows: Row[], { copyElsewhere }: Tried): { passkey: boolean; browser: boolean } {
  const tried = (...ways: Way[]) => rows.some((it) => ways.includes(it.way) && it.there && it.triedAt !== null);
  return {
    passkey: tried("passkey", "password", "file", "device"),
    browser: tried("file", "device") || (tried("copy") && Boolean(copyElsewhere)),
  };
}
