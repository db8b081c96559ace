/** What keys of accounts are called, and which key a person means by a name, an address or a code. */

import "./texts.ts";
import { kindOf } from "../../account/changes.ts";
import { p256Signer } from "../../chain/owners.ts";
import { changeFacts, facts } from "../../kit/notes.ts";
import { type Passkey, passkeysOf } from "../../passkeys/signers.ts";
import { accountAddress } from "../library.ts";
import { text } from "../parts/language.ts";
import { ProblemError } from "../parts/problems.ts";
import { SERVICE } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { sendError } from "../send/errors.ts";
import { type Payee, resolved } from "../send/payee.ts";

const CODE = /^0x[0-9a-f]{128}$/;
const SHOWN = 4;

/** a key; `account`: by which it was found, unless its code was typed */
export type Person = { signer: string; account?: Payee };

export type Namer = (signer: string) => { name: string; kind: string };

/** @returns the vault's passkeys whose keys an account can verify */
export async function passkeys(): Promise<Passkey[]> {
  const found = await passkeysOf((await ready()).vault);
  return found.map((it) => ({ ...it, name: it.name || text("passkeys.unnamed") }));
}

/**
 * Returns a function that says what the person calls a key, and what kind of key it is.
 *
 * @param own the signer of the vault's key
 * @param services this service's keys as a guardian
 */
export async function namer(own: string, known: Passkey[], services: string[] = []): Promise<Namer> {
  const { did } = await (await ready()).vault.query();
  const { keyNames = {} } = await facts(did);
  return (signer) => {
    if (signer === own) return { name: text("keys.this"), kind: text("keys.kind.vault") };
    if (services.includes(signer))
      return { name: text("keys.service", { name: SERVICE }), kind: text("keys.kind.service") };
    const passkey = known.find((it) => it.signer === signer);
    if (passkey) return { name: passkey.name, kind: text("keys.kind.passkey") };
    const code = `${signer.slice(2, 2 + SHOWN)} … ${signer.slice(-SHOWN)}`;
    return { name: keyNames[signer] ?? text("keys.unnamed", { code }), kind: text(`keys.kind.${kindOf(signer)}`) };
  };
}

/** Notes what the person calls a key. The key's code does not count as a name: it is shown shortened. */
export async function noteName(signer: string, name: string) {
  if (name.replaceAll(/\s|^0x/gi, "").toLowerCase() === signer.slice(2)) return;
  const { did } = await (await ready()).vault.query();
  await changeFacts(did, ({ keyNames }) => ({ keyNames: { ...keyNames, [signer]: name } }));
}

/**
 * Returns the account that the person means.
 *
 * @param typed a name, a DID or an address
 * @returns and how certain it is that it is the meant one
 * @throws {ProblemError}
 */
export function accountOf(typed: string): Promise<Payee> {
  return resolved(typed).catch((error) => {
    throw sendError(error);
  });
}

/**
 * Returns the key that the person means: one that is typed, or else the one for which the account was created, because
 * the account's address proves that key.
 *
 * @param typed a code, or a name, a DID or an address
 * @returns `signer` in 0x-hex
 * @throws {ProblemError}
 */
export async function personOf(typed: string): Promise<Person> {
  const code = typed.replace(/\s/g, "").toLowerCase();
  if (CODE.test(code)) return { signer: code };
  const [client, account] = [await ready(), await accountOf(typed)];
  const { pubKeyX, pubKeyY } = await client.accountState({ account: account.address });
  const key = { x: BigInt(pubKeyX), y: BigInt(pubKeyY) };
  if (key.y === 0n || (await accountAddress(client, key)) !== account.address)
    throw new ProblemError("keys.bad.person");
  return { signer: p256Signer(key), account };
}

/**
 * Like `personOf`, of another person or device than this vault.
 *
 * @param own the signer of the vault's key
 */
export async function otherPerson(typed: string, own: string) {
  const person = await personOf(typed);
  if (person.signer === own) throw new ProblemError("keys.bad.own");
  return person;
}
