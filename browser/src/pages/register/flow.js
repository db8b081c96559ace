/** The order of a registration: identifier, passkey, vault, proof of the address, chain, service. Each step is noted. */

import { signalUnknownCredential } from "../library.js";
import { text } from "../parts/language.js";
import { setBegun } from "../parts/notes.js";
import { Told } from "../parts/problems.js";
import { go } from "../parts/router.js";
import { run } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";

/** @typedef {import("../parts/notes.js").Begun} Begun */

const LOCK = "holdfast-registration";
/** @type {(() => void) | null} */
let release = null;

/**
 * This tab is the one that registers, until it is closed or done.
 *
 * @throws {Told} another tab is
 */
export async function alone() {
  if (release) return;
  const held = await new Promise((resolve) => {
    void navigator.locks.request(LOCK, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise((done) => (release = () => done(null)));
    });
  });
  if (!held) throw new Told("resume.otherTab");
}

/** The registration is over. */
export async function over() {
  await setBegun(null);
  release?.();
  release = null;
}

/**
 * Goes on after an identifier was chosen: with a vault that waits for one, or to the passkey.
 *
 * @param {Begun} row
 */
export async function chosen(row) {
  await alone();
  await setBegun(row);
  await go(row.did ? "finish" : "passkey", row);
}

/**
 * Goes on where an interrupted registration stopped.
 *
 * @param {Begun} row
 * @param {HTMLElement} pressed
 */
export function resume(row, pressed) {
  return run(pressed, async () => {
    await alone();
    if (row.did && (await isStored(row.did))) return go("finish", { ...row, resumed: true });
    await go("passkey", await withoutOrphan(row));
  }, text("working"));
}

/**
 * A passkey whose vault was never stored opens nothing: the password manager is told, and another one is made.
 *
 * @param {Begun} row
 * @returns {Promise<Begun>}
 */
export async function withoutOrphan(row) {
  if (row.credentialId) await signalUnknownCredential(row.credentialId).catch(() => false);
  const { channel, identifier } = row;
  const anew = { channel, identifier };
  await setBegun(anew);
  return anew;
}

/** @param {string} did */
async function isStored(did) {
  const stored = await (await ready()).vault.stored();
  return stored.some((it) => it.did === did);
}
