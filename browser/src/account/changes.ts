/** Changes of an account that owners sign once for every chain, and the calls that bring them and recover accounts. */

import { address, bytes, number, tuple, WORD } from "../chain/abi.ts";
import type { Call } from "../chain/calls.ts";
import { bytesAt, list, listAt, numberAt, restAt, struct } from "../chain/lists.ts";
import type { Owner } from "../chain/owner_list.ts";

const APPLY = "0176b14d"; // applyChangesEverywhere(uint64,(uint8,bytes,uint256)[],bytes)
const CREATE_WITH = "e99936fb"; // createAccountWith(uint256,uint256,uint256,((uint8,bytes,uint256)[],bytes)[])
const EXECUTE_BATCH = "34fcd5be"; // executeBatch((address,uint256,bytes)[])
const START = "02903f32"; // startRecovery(bytes[],bytes)
const FINISH = "b0ebf978"; // finishRecovery(bytes[])
const CANCEL = "6eec66cf"; // cancelRecoverySigned(bytes)
const SELECTOR = 8;
const [P256_DIGITS, ADDRESS_DIGITS, LEAST_DIGITS, MOST_DIGITS] = [128, 40, 40, 2048];
/** In the order of the contract's numbers. */
const KINDS = [
  "add_owner",
  "remove_owner",
  "set_primary",
  "set_threshold",
  "add_guardian",
  "remove_guardian",
  "set_quorum",
  "set_delay",
] as const;

type ChangeKind = (typeof KINDS)[number];

/**
 * `signer`: 0x-hex, of an owner or guardian; `value`: an owner's expiry (Unix time, 0 for never), how many must sign,
 * or seconds
 */
export type Change = { kind: ChangeKind; signer?: string; value?: number };

/** `sequence`: the place among the account's changes, from 0; `signature`: the owners', 0x-hex */
export type SignedChanges = { account: string; sequence: number; changes: Change[]; signature: string };

/**
 * Returns what kind of signer these bytes name: a P-256 key (X ‖ Y), an address, or a verifier and its key (ERC-7913).
 *
 * @param signer 0x-hex
 * @throws {TypeError} none
 */
export function kindOf(signer: string): "p256" | "address" | "verifier" {
  const digits = /^0x((?:[0-9a-f]{2})+)$/i.exec(signer)?.[1].length ?? 0;
  if (digits < LEAST_DIGITS || digits > MOST_DIGITS) throw new TypeError("not a signer of accounts");
  return digits === P256_DIGITS ? "p256" : digits === ADDRESS_DIGITS ? "address" : "verifier";
}

/** The call that brings signed changes to an account that exists. */
export function applyChanges({ account, sequence, changes, signature }: SignedChanges): Call {
  return { to: account, data: `0x${APPLY}${tuple(number(sequence), listed(changes), bytes(signature))}` };
}

/** The account's call of itself that brings several signed changes, all or none. */
export function applyTogether(account: string, history: SignedChanges[]): Call {
  const made = history.map(applyChanges).map(({ to, data }) => struct(address(to), number(0n), bytes(data)));
  return { to: account, data: `0x${EXECUTE_BATCH}${tuple(list(made))}` };
}

/** The factory's call that creates the account of a first key, and brings all changes from sequence 0 on. */
export function createAccountWith(
  factory: string,
  { x, y, salt = 0n }: { x: bigint; y: bigint; salt?: bigint },
  history: SignedChanges[],
): Call {
  const steps = list(history.map(({ changes, signature }) => struct(listed(changes), bytes(signature))));
  return { to: factory, data: `0x${CREATE_WITH}${tuple(number(x), number(y), number(salt), steps)}` };
}

/** @param signatures by name */
export function startRecovery(account: string, newOwners: string[], signatures: string): Call {
  return { to: account, data: `0x${START}${tuple(list(newOwners.map(bytes)), bytes(signatures))}` };
}

/** The call, open to anyone, that ends a recovery after its delay. */
export function finishRecovery(account: string, newOwners: string[]): Call {
  return { to: account, data: `0x${FINISH}${tuple(list(newOwners.map(bytes)))}` };
}

/** @param signature of an owner */
export function cancelRecovery(account: string, signature: string): Call {
  return { to: account, data: `0x${CANCEL}${tuple(bytes(signature))}` };
}

/**
 * Returns the changes of the account in a transaction's input, however deeply other calls contain them. Whether their
 * signatures are valid is for the caller's chain to say.
 *
 * @param input 0x-hex
 */
export function changesIn(account: string, input: string): SignedChanges[] {
  const digits = input.slice(2).toLowerCase();
  const made = (it: Omit<SignedChanges, "account">) => ({ account, ...it });
  return [...placesOf(digits, APPLY).map(applied), ...placesOf(digits, CREATE_WITH).flatMap(created)]
    .filter((it) => it !== null)
    .map(made);

  function applied(at: number) {
    return orNull(() => ({
      sequence: Number(numberAt(digits, at)),
      changes: changesAt(digits, restAt(digits, at, at + WORD)),
      signature: bytesAt(digits, restAt(digits, at, at + 2 * WORD)),
    }));
  }

  function created(at: number) {
    const steps = orNull(() => listAt(digits, restAt(digits, at, at + 3 * WORD), (it) => it)) ?? [];
    return steps.map((step, sequence) =>
      orNull(() => ({
        sequence,
        changes: changesAt(digits, restAt(digits, step, step)),
        signature: bytesAt(digits, restAt(digits, step, step + WORD)),
      })),
    );
  }
}

/** Returns the changes, with a new primary key if they remove the present one and another P-256 key remains. */
export function withPrimary(owners: Owner[], changes: Change[]): Change[] {
  const removed = new Set(changes.filter(({ kind }) => kind === "remove_owner").map(({ signer }) => signer));
  const loses = owners.some((it) => it.isPrimary && removed.has(it.signer));
  if (!loses || changes.some(({ kind }) => kind === "set_primary")) return changes;
  const added = changes.filter(({ kind, value }) => kind === "add_owner" && !value).map(({ signer = "" }) => signer);
  const lasting = [...owners.filter(({ expiry }) => expiry === 0).map(({ signer }) => signer), ...added];
  const heir = lasting.find((it) => kindOf(it) === "p256" && !removed.has(it));
  return heir ? [...changes, { kind: "set_primary", signer: heir }] : changes;
}

function listed(changes: Change[]) {
  return list(
    changes.map(({ kind, signer = "0x", value = 0 }) =>
      struct(number(KINDS.indexOf(kind)), bytes(signer), number(value)),
    ),
  );
}

/** @returns only such as our clients sign */
function changesAt(digits: string, position: number): Change[] {
  return listAt(digits, position, (at) => {
    const kind = KINDS[Number(numberAt(digits, at))];
    const signer = bytesAt(digits, restAt(digits, at, at + WORD));
    const value = Number(numberAt(digits, at + 2 * WORD));
    const isTerm = ["set_threshold", "set_quorum", "set_delay"].includes(kind);
    if (!kind || (signer === "0x") !== isTerm || (value && !isTerm && kind !== "add_owner"))
      throw new RangeError("not a change of owners");
    return { kind, ...(isTerm ? {} : { signer }), ...(isTerm || kind === "add_owner" ? { value } : {}) };
  });
}

/** @returns where the arguments of each call begin */
function placesOf(digits: string, selector: string): number[] {
  const found = [];
  for (let at = digits.indexOf(selector); at >= 0; at = digits.indexOf(selector, at + 1))
    if (at % 2 === 0) found.push(at + SELECTOR);
  return found;
}

/** @returns null for what is something else */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
