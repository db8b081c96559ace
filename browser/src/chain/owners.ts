/** What an account's chain says of one of its keys, and signatures that name the key (docs/contracts.md, "Accounts"). */

import { fromHex, toHex } from "../bytes.ts";
import { number, WORD } from "./abi.ts";
import { numberAt } from "./lists.ts";
import { ask, digitsOf } from "./rpc.ts";

const KEY_STATE = "9e751c87"; // keyState(bytes32)
const ACCOUNT_SETTINGS = "eea4800f"; // accountSettings()
/** At most this many sign, and this many sign changes; the hexadecimal digits of a signer or a signature. */
const [MOST, MOST_OF_CHANGES, LONGEST] = [32, 2n, 2 * 0xffff];

/**
 * @param url the chain's endpoint
 * @param keyId Keccak-256 of the signer, 0x-hex
 * @returns `expiry`: Unix time, 0 for never; also of an owner that has expired
 */
export async function ownerState(
  url: string,
  account: string,
  keyId: string,
): Promise<{ isOwner: boolean; expiry: number; isGuardian: boolean }> {
  const [isOwner, expiry, isGuardian] = await words(url, account, KEY_STATE + keyId.slice(2), 3);
  return { isOwner: isOwner === 1n, expiry: Number(expiry), isGuardian: isGuardian === 1n };
}

/**
 * Whether an owner's time is over: the contract lists it until it is removed, but it signs nothing.
 *
 * @param now Unix time
 */
export const hasExpired = ({ expiry }: { expiry: number }, now: number = Date.now() / 1000) =>
  expiry !== 0 && expiry <= now;

/** what an account counts and requires (contracts/src/account/Settings.sol) */
export interface Settings {
  /** signed changes so far */ sequence: number;
  /** recoveries so far */ generation: number;
  owners: number;
  /** how many owners must sign: 1 or 2 */ threshold: number;
  guardians: number;
  /** how many guardians must sign; 0: none can */ quorum: number;
  /** of a recovery, in seconds */ delay: number;
  recoveryNonce: number;
}

/**
 * @param url the chain's endpoint
 * @param account one that exists
 */
export async function settingsOf(url: string, account: string): Promise<Settings> {
  const settings = (await words(url, account, ACCOUNT_SETTINGS, 8)).map(Number);
  const [sequence, generation, owners, threshold, guardians, quorum, delay, recoveryNonce] = settings;
  return { sequence, generation, owners, threshold, guardians, quorum, delay, recoveryNonce };
}

/**
 * Returns one signature that names who signed.
 *
 * @param signatures 0x-hex, in any order
 * @returns 0x-hex
 * @throws {TypeError} no one signed, a signer did so twice, or something is too long
 */
export function named(signatures: { keyId: string; signer: string; signature: string }[]): string {
  if (
    !signatures.length ||
    signatures.length > MOST ||
    new Set(signatures.map(({ keyId }) => keyId)).size < signatures.length
  )
    throw new TypeError(`between one and ${MOST} different signers sign`);
  const ordered = signatures.toSorted((one, other) => (BigInt(one.keyId) < BigInt(other.keyId) ? -1 : 1));
  const entries = ordered.map(({ signer, signature }) => {
    const [who, what] = [signer.slice(2), signature.slice(2)];
    return length(who) + length(what) + who + what;
  });
  return `0x${number(ordered.length)}${entries.join("")}`;
}

/**
 * Returns the signers and signatures in one owner's part of a signature that needs two owners.
 *
 * @param whole 0x-hex
 * @throws {TypeError} it was signed where one signature suffices, so it names no signer; or it is malformed
 */
export function signaturesIn(whole: string): { signer: string; signature: string }[] {
  const digits = toHex(fromHex(whole)).slice(2);
  const count = BigInt(`0x${digits.slice(0, WORD) || 0}`);
  if (count > MOST_OF_CHANGES) throw new TypeError("the other owner signed where one signature suffices");
  const found = [];
  let at = WORD;
  while (at < digits.length) {
    const size = (from: number) => 2 * Number(`0x0${digits.slice(at + from, at + from + 4)}`);
    const [middle, end] = [at + 8 + size(0), at + 8 + size(0) + size(4)];
    found.push({ signer: `0x${digits.slice(at + 8, middle)}`, signature: `0x${digits.slice(middle, end)}` });
    at = end;
  }
  if (at === digits.length && count && BigInt(found.length) === count) return found;
  throw new TypeError("the other owner's signature is malformed");
}

/**
 * Returns a P-256 owner's signature that names the owner: shorter than a list of one.
 *
 * @param signer 0x-hex
 * @param signature 0x-hex
 * @returns 0x-hex
 */
export function byName(signer: string, signature: string): string {
  return signer + signature.slice(2);
}

/**
 * Returns an owner's signature of changes in the form that costs the least gas.
 *
 * @param signed 0x-hex
 * @param of `suffices`: whether one owner's signature does; if not, or if that is not known, another's may join it;
 *   `isPrimary`: whether the owner is the account's primary key
 * @returns 0x-hex
 */
export function ofChanges(
  signed: { keyId: string; signer: string; signature: string },
  { suffices, isPrimary }: { suffices: boolean; isPrimary: boolean },
): string {
  if (!suffices) return named([signed]);
  return isPrimary ? signed.signature : byName(signed.signer, signed.signature);
}

/**
 * The signer of a P-256 key.
 *
 * @returns 0x-hex
 */
export function p256Signer({ x, y }: { x: bigint; y: bigint }): string {
  return `0x${number(x)}${number(y)}`;
}

function length(digits: string) {
  if (digits.length > LONGEST) throw new TypeError("a signer or a signature is too long");
  return (digits.length / 2).toString(16).padStart(4, "0");
}

/**
 * Returns the first words of what a view of the account answers.
 *
 * @param url the chain's endpoint
 * @param data of the call, hex digits without 0x
 */
export async function words(url: string, account: string, data: string, count: number): Promise<bigint[]> {
  const found = digitsOf(
    await ask(url, "eth_call", [{ to: account, data: `0x${data}` }, "latest"]),
    (count * WORD) / 2,
  );
  return Array.from({ length: count }, (_, at) => numberAt(found, at * WORD));
}
