/** Lists the ways back into a vault and when each was last tested. Pure functions. */

/**
 * @typedef {"passkey" | "password" | "copy" | "file" | "device" | "account"} Way
 * @typedef {Partial<Record<string, number>>} Tried when each way last opened the vault, in milliseconds since 1970; for
 *   a passkey under `passkey:` and the name of its vault key
 * @typedef {{way: Way, there: boolean, triedAt: number | null}} Row
 *
 * @typedef {object} Known
 * @property {{kind: string, id: string}[]} wraps the keys that open the vault in this browser
 * @property {number | undefined} backupAt when a backup file was saved
 * @property {import("../vault/copy.js").State | null} snapshot the state of the service's copy
 * @property {Tried} tried
 */

/** Returns the name under which the test of a passkey is recorded. @param {string} keyId */
export const passkeyMark = (keyId) => `passkey:${keyId}`;

/**
 * Returns the ways back into the vault for a person who loses the passkey that they use every day.
 *
 * @param {Known} known
 * @returns {Row[]}
 */
export function ways({ wraps, backupAt, snapshot, tried }) {
  const passkeys = wraps.filter((it) => it.kind === "prf").map((it) => tried[passkeyMark(it.id)] ?? null);
  const used = passkeys.filter((it) => it !== null).sort((one, other) => other - one);
  const rows = [
    // The most recently used passkey is assumed to be lost, so the second most recently used one is the way back.
    { way: /** @type {Way} */ ("passkey"), there: passkeys.length > 1, triedAt: used[1] ?? null },
    { way: /** @type {Way} */ ("copy"), there: Boolean(snapshot?.acknowledgedRoot), triedAt: tried.copy ?? null },
    { way: /** @type {Way} */ ("file"), there: Boolean(backupAt), triedAt: newer(tried.file, backupAt) },
    { way: /** @type {Way} */ ("device"), there: Boolean(tried.device || tried.paired), triedAt: tried.device ?? null },
    { way: /** @type {Way} */ ("account"), there: Boolean(tried.account), triedAt: tried.account ?? null },
  ];
  if (!wraps.some((it) => it.kind === "password")) return rows;
  return [{ way: "password", there: true, triedAt: tried.password ?? null }, ...rows];
}

/**
 * A test of a backup file proves nothing about a file saved later.
 *
 * @param {number | undefined} triedAt
 * @param {number | undefined} savedAt
 */
function newer(triedAt, savedAt) {
  return triedAt && triedAt >= (savedAt ?? 0) ? triedAt : null;
}

/**
 * Returns which losses the person's tests cover: losing only the passkey, and losing the whole browser.
 * After the browser is lost, the service's copy helps only if the key that opened it also exists elsewhere
 * (`copyElsewhere`).
 *
 * @param {Row[]} rows
 * @param {Tried} tried
 * @returns {{passkey: boolean, browser: boolean}}
 */
export function survives(rows, { copyElsewhere }) {
  const tried = (/** @type {Way[]} */ ...ways) =>
    rows.some((it) => ways.includes(it.way) && it.there && it.triedAt !== null);
  return {
    passkey: tried("passkey", "password", "file", "device"),
    browser: tried("file", "device") || (tried("copy") && Boolean(copyElsewhere)),
  };
}
