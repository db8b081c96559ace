/**
 * Defines the order of a registration's steps: identifier, passkey, vault, proof of the address, chain, service. Each
 * step is recorded.
 */

import { signalUnknownCredential } from "../library.ts";
import { text } from "../parts/language.ts";
import { type Begun, setBegun } from "../parts/notes.ts";
import { ProblemError } from "../parts/problems.ts";
import { go } from "../parts/router.ts";
import { run } from "../parts/screen.ts";
import { invited, ready } from "../parts/vault_client.ts";

const LOCK = "holdfast-registration";
let release: (() => void) | null = null;

/**
 * Makes this tab the only one in which a registration can run, until the tab is closed or the registration ends.
 *
 * @throws {ProblemError} another tab is registering
 */
export async function alone() {
  if (release) return;
  const held = await new Promise((resolve) => {
    void navigator.locks.request(LOCK, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise((done) => (release = () => done(null)));
    });
  });
  if (!held) throw new ProblemError("resume.otherTab");
}

/** Ends the registration. */
export async function over() {
  await setBegun(null);
  release?.();
  release = null;
}

/** Continues after an identifier has been chosen: registers an existing vault, or creates a passkey if none exists. */
export async function chosen(row: Begun) {
  await alone();
  await setBegun(row);
  await go(row.did ? "finish" : "passkey", row);
}

/** Continues where an interrupted registration stopped. */
export function resume(row: Begun, pressed: HTMLElement) {
  return run(
    pressed,
    async () => {
      if (row.invitation) invited(row.invitation);
      await alone();
      if (row.did && (await isStored(row.did))) return go("finish", { ...row, resumed: true });
      await go("passkey", await withoutOrphan(row));
    },
    text("working"),
  );
}

/** Discards a passkey that opens nothing, because its vault was never stored, and notifies the password manager. */
export async function withoutOrphan(row: Begun): Promise<Begun> {
  if (row.credentialId) await signalUnknownCredential(row.credentialId).catch(() => false);
  const { channel, identifier, invitation } = row;
  const anew = { channel, identifier, invitation };
  await setBegun(anew);
  return anew;
}

async function isStored(did: string) {
  const stored = await (await ready()).vault.stored();
  return stored.some((it) => it.did === did);
}
