/**
 * Moves a person to another service, step by step; a second call continues after an interruption. The previous service
 * loses nothing before the new one has the name, the new passkey and the vault's copy, each of which was checked.
 */

import "../core.ts";
import { randomBytes } from "../bytes.ts";
import { isAccepted } from "../chain/assertions.ts";
import type { Client } from "../client.ts";
import { ClientStateError, MoveRefused } from "../errors.ts";
import type { DidRecord } from "../generated/types.ts";
import type { VaultKey } from "../passkeys/secrets.ts";
import { type VaultStore, withStore } from "../vault/store.ts";
import type { Vault } from "../vault/vault.ts";
import { owned, type Ownership, signerOf, UNCHANGED } from "./move_owner.ts";
import { checkFree, checkTarget } from "./move_target.ts";
import { recordPasskey } from "./passkeys.ts";
import { exportPerson, takeBack } from "./person.ts";
import type { RegistrationRequest, RegistrationStep } from "./register.ts";

/** a new passkey for the new service, its signature of the challenge, and its PRF secret for vaults */
export type MadePasskey = {
  credential: string;
  credentialId: string;
  assertion: string;
  secret: Uint8Array<ArrayBuffer>;
};

/** makes a passkey for the new service, at whose address alone browsers can; `userHandle` is hex */
export type NewPasskeys = {
  origin: string;
  rpId: string;
  make: (verification: {
    name: string;
    userHandle: string;
    challenge: Uint8Array<ArrayBuffer>;
  }) => Promise<MadePasskey>;
};

type MoveStep = "checked" | "signed" | "copied" | "owned" | "left" | RegistrationStep;

/**
 * `owner`: whether the new passkey becomes an owner of the account, if a chain is known (true by default); `endFormer`:
 * called once it has signed, if the present passkey is an owner; returns whether that one ends with the same change (by
 * default it stays)
 */
export type MoveOptions = {
  code?: RegistrationRequest["code"];
  onProgress?: (step: MoveStep) => void;
  owner?: boolean;
  endFormer?: () => boolean | Promise<boolean>;
};

/**
 * `leftBehind`: other names and addresses that the DID still has at the previous service; `isOwner`, `formerIsOwner`:
 * whether the new passkey, and the previous service's, own the account
 */
export type Moved = {
  did: string;
  identifier: string;
  channel: string;
  credentialId: string;
  rootCid: string;
  leftBehind: string[];
} & Ownership;

/**
 * `made`: the new passkeys of all attempts; `signers`: those whose signatures an account verifies, of which some may be
 * its owners
 */
type Noted = { to: string; former: string; registration: DidRecord; made: string[]; signers: string[] };

/** @param old its vault is open @param next the new service's, with the same vault */
export async function move(
  old: Client,
  next: Client,
  passkeys: NewPasskeys,
  { code, onProgress, owner = true, endFormer = () => false }: MoveOptions = {},
): Promise<Moved> {
  const { vault } = next;
  const { did } = await vault.query();
  await checkTarget(old, next);
  onProgress?.("checked");
  return withStore(async (store) => {
    const noted = await begun(store, old, next, did);
    await store.setNote(noteOf(did), noted);
    const { registration, former } = noted;
    const challenge = randomBytes(32);
    const { public_key: userHandle } = await vault.publishingKey();
    const made = await passkeys.make({ name: registration.identifier, userHandle, challenge });
    const { credentials } = await vault.query();
    // What is noted as made is removed by the next attempt.
    if (credentials.some((it) => it.credential_id === made.credentialId))
      throw new MoveRefused("no_proof", "the vault has this passkey already");
    const all = { ...noted, made: [...noted.made, made.credentialId] };
    await store.setNote(noteOf(did), all);
    await opensAfterSigning(vault, passkeys, made, challenge);
    const signer = await signerOf(next, made.credentialId);
    const signers = signer ? [...noted.signers, signer] : noted.signers;
    await store.setNote(noteOf(did), { ...all, signers });
    for (const id of noted.made) await forget(vault, id);
    onProgress?.("signed");
    const request = { [registration.channel]: registration.identifier, code, onProgress };
    await next.register({ ...request, passkey: made.credentialId, known: registration });
    for (const credentialId of noted.made) await takeBack(next, { credentialId });
    const snapshots = await next.snapshots();
    const rootCid = await snapshots.copyTo(keyOf(made));
    onProgress?.("copied");
    await confirmed(next, did, made.credentialId, registration);
    const known = { signer, former: await signerOf(next, former), stale: noted.signers };
    const ownership = owner ? await owned(old, next, known, endFormer) : UNCHANGED;
    if (ownership.isOwner) onProgress?.("owned");
    const leftBehind = await left(old, noted);
    await snapshots.continueHere();
    await store.setNote(noteOf(did), null);
    onProgress?.("left");
    const { identifier, channel } = registration;
    return { did, identifier, channel, credentialId: made.credentialId, rootCid, leftBehind, ...ownership };
  }, vault.dbName);
}

/**
 * Returns what would move, after the checks for which the vault need not sign.
 * @param old its vault is open
 */
export async function moveCheck(old: Client, next: Client) {
  const { did } = await old.vault.query();
  await checkTarget(old, next);
  const { registration } = await withStore((store) => begun(store, old, next, did), old.vault.dbName);
  const { identifier, channel } = registration;
  return { did, identifier, channel };
}

/**
 * Returns what an interrupted attempt noted, or the new move after its name was found free. A move to another service,
 * which may be gone, is given up.
 */
async function begun(store: VaultStore, old: Client, next: Client, did: string): Promise<Noted> {
  const noted = await store.note<Noted>(noteOf(did));
  if (noted?.to === next.baseUrl) return noted;
  const { registration, former } = await registrationAt(old, did);
  await checkFree(next, registration, did);
  return { to: next.baseUrl, former, registration, made: noted?.made ?? [], signers: noted?.signers ?? [] };
}

async function registrationAt(old: Client, did: string) {
  for (const { credential_id: former } of (await old.vault.query()).credentials) {
    const known = await old.lookupDid({ credentialId: former });
    if (known.found && known.did === did) return { registration: known, former };
  }
  throw new MoveRefused("not_registered", `the vault is not registered at ${old.baseUrl}`);
}

/** Checks that the new passkey has signed for the new service. Only then it opens the vault. */
async function opensAfterSigning(
  vault: Vault,
  passkeys: NewPasskeys,
  made: MadePasskey,
  challenge: Uint8Array<ArrayBuffer>,
) {
  await recordPasskey(vault, made, passkeys.rpId);
  const { assertion } = made;
  const verification = { assertion, challenge, origin: passkeys.origin, rp_id: passkeys.rpId };
  const { success, result, error } = await vault.exec("resource:credentials action:verify", verification);
  const said = success ? result : { valid: false as const, reason: error };
  const isProof = said?.valid && said.credential_id === made.credentialId;
  if (!isProof || !isAccepted(challenge, assertion)) {
    await vault.exec("resource:credentials action:delete", { credential_id: made.credentialId });
    const why = (said && !said.valid && said.reason) || "another passkey has";
    const reason = `the new passkey has not signed for ${passkeys.rpId} (${why})`;
    throw new MoveRefused("no_proof", isProof ? "the new passkey does not sign as an account requires" : reason);
  }
  await vault.addKey(keyOf(made));
}

/**
 * Removes an interrupted attempt's passkey. Its secret is available only at its site, so each attempt makes another.
 */
async function forget(vault: Vault, credentialId: string) {
  const { wraps } = await vault.keys();
  if (wraps.some(({ kind, id }) => kind === "prf" && id === credentialId)) await vault.removeKey("prf", credentialId);
  await vault.exec("resource:credentials action:delete", { credential_id: credentialId });
}

/** @returns its secret is transferred to the worker, so each use gets another copy */
function keyOf({ credentialId, secret }: MadePasskey): VaultKey {
  return { kind: "prf", id: credentialId, secret: secret.slice().buffer };
}

/** Checks what the new service says of the name and the passkey, before the previous one loses them. */
async function confirmed(next: Client, did: string, credentialId: string, { identifier, channel }: DidRecord) {
  const known = await next.lookupDid({ credentialId });
  if (!known.found || known.did !== did || known.identifier !== identifier || known.channel !== channel)
    throw new MoveRefused("other_registration", "the new service does not have the name for this DID and passkey");
  if (channel === "handle" && (await next.checkSession({ identifier })).available)
    throw new MoveRefused("other_registration", "the new service offers the name to others");
}

/** Frees the name at the previous service, and takes its passkey back there. @returns what the DID still has there */
async function left(old: Client, { registration, former }: Noted): Promise<string[]> {
  const { identifier, channel } = registration;
  await takeBack(old, { identifier, channel: channel as "handle" });
  await takeBack(old, { credentialId: former });
  const { identifiers } = await exportPerson(old);
  return identifiers.map(({ given }) => given);
}

function noteOf(did: string) {
  if (!did) throw new ClientStateError("there is no vault");
  return `moving:${did}`;
}
