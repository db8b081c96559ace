/**
 * Which keys sign an operation of an account where two owners must sign (vectors/accounts/two_keys.json). The account then
 * accepts one signature only for what a spending permission of that key covers. So a permission for the vault's
 * own key states the sum up to which one signature suffices.
 */

import type { Payment } from "./calls.ts";
import type { Granted } from "./granted.ts";
import { hasExpired } from "./owners.ts";
import { payeeIn, tokenOf } from "./permissions.ts";

/** 0x-hex */
export type Signed = { signer: string; signature: string };

/** other owners' keys, of which one signs after the vault's, over the same hash */
export interface SecondKey {
  /**
   * 0x-hex; an empty list: no key. The client then still finds payments for which one key suffices, and names the
   * missing key for others
   */
  signers: () => Promise<string[]>;
  /** with one of those of the signers that are owners */ sign: (hash: string, signers: string[]) => Promise<Signed>;
}

/** how an operation is authorised */
export interface Way {
  /**
   * "one": the vault's key signs; "permission": it signs, and spends by a permission; "two": a second key signs too;
   * "missing": the second key is missing
   */
  kind: "one" | "permission" | "two" | "missing";
  /** the permission */ granted?: Granted;
  /** the second keys that can sign, or the owners of which one is missing */ keys: string[];
}

/**
 * Returns who signs any operation.
 *
 * @param facts signers in 0x-hex; `now`: Unix time
 */
export function wayOf({
  threshold,
  own,
  seconds,
  owners,
  now,
}: {
  threshold: number;
  own: string;
  seconds: string[];
  owners: { signer: string; expiry: number }[];
  now: number;
}): Way {
  if (threshold < 2) return { kind: "one", keys: [] };
  const others = owners.filter((it) => it.signer !== own && !hasExpired(it, now));
  const keys = others.map(({ signer }) => signer);
  const given = seconds.map((it) => it.toLowerCase());
  const present = keys.filter((it) => given.includes(it));
  return present.length ? { kind: "two", keys: present } : { kind: "missing", keys };
}

/**
 * Returns the way of a payment that a permission of the vault's own key covers.
 *
 * @param ownId the ID of the vault's key, 0x-hex
 * @returns null if two keys must sign
 */
export function withinSum(ownId: string, granted: Granted[], { to, amount, token }: Payment): Way | null {
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  const found = granted.find(({ permission: it, left }) => {
    const isFor = it.keyId === ownId && BigInt(it.function) === 0n && left >= amount;
    return isFor && same(tokenOf(it), token) && same(payeeIn(it) ?? to, to);
  });
  return found ? { kind: "permission", granted: found, keys: [] } : null;
}
