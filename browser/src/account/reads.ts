/**
 * Reads an account's owners, guardians, terms and recovery from its chain. The contract keeps keys by their IDs only.
 * Their bytes come from its events, and what each is now from its state, so a chain endpoint that leaves out events can
 * hide a key but not invent one.
 */

import { fromHex } from "../bytes.ts";
import { WORD } from "../chain/abi.ts";
import { bytesAt, listAt, restAt } from "../chain/lists.ts";
import { type AccountOnChain, logs } from "../chain/logs.ts";
import { OWNER_ADDED, announced, keyIdOf, statesOf } from "../chain/owner_list.ts";
import { settingsOf, words } from "../chain/owners.ts";
import { ask, digitsOf, hasCode, quantity } from "../chain/rpc.ts";
import { changesIn, type SignedChanges } from "./changes.ts";
import { insteadOf, NetworkError } from "../errors.ts";
import type { Foreign } from "../http/http.ts";

const PENDING_RECOVERY = "faeb4488"; // pendingRecovery()
const GUARDIAN_ADDED = "GuardianAdded(bytes32,bytes)";
const RECOVERY_STARTED = "RecoveryStarted(uint32,uint48,bytes[])";
/** What every signed change announces at least one of. */
const CHANGED = [
  OWNER_ADDED,
  "OwnerRemoved(bytes32)",
  GUARDIAN_ADDED,
  "GuardianRemoved(bytes32)",
  "ThresholdChanged(uint8)",
  "RecoveryTermsChanged(uint8,uint32)",
  "PublicKeyChanged(uint256,uint256)",
];
/** The contract keeps so many bits of the hash of a recovery's new owners. */
const SHORT = 2n ** 200n;

export { originOf } from "../chain/origin.ts";
export { keyIdOf, ownersOf, statesOf } from "../chain/owner_list.ts";

/**
 * `readyAt`: Unix time from which it can be finished; `isReady`: whether the newest block is from that time or later;
 * `supporters`: guardians who signed it; `newOwners`: null if the endpoint does not show them
 */
export type Recovery = { readyAt: number; isReady: boolean; supporters: number; newOwners: string[] | null };

export function exists({ url, address }: AccountOnChain): Promise<boolean> {
  return hasCode(url, address);
}

/** @returns oldest first */
export async function guardiansOf(chainAccount: AccountOnChain): Promise<string[]> {
  const states = await statesOf(chainAccount, await announced(chainAccount, GUARDIAN_ADDED));
  return states.filter(({ isGuardian }) => isGuardian).map(({ signer }) => signer);
}

/** @returns Unix time of the newest block */
export async function blockTime(url: string): Promise<bigint> {
  const block = await ask(url, "eth_getBlockByNumber", ["latest", false]);
  return quantity((block as Foreign)?.timestamp);
}

/**
 * Returns from when a permission holds that is granted now: if the chain's clock is behind this device's, from its newest
 * block, because the account refuses payments before.
 *
 * @param url "": no endpoint of the chain is known
 * @returns Unix time
 */
export async function startOf(url: string): Promise<number> {
  const now = Math.floor(Date.now() / 1000);
  const newest = url ? await blockTime(url).catch(insteadOf(NetworkError, now)) : now;
  return Math.min(now, Number(newest));
}

/** @returns the one that is under way */
export async function recoveryOf(chainAccount: AccountOnChain): Promise<Recovery | null> {
  const [readyAt, supporters, short] = await words(chainAccount.url, chainAccount.address, PENDING_RECOVERY, 3);
  if (!readyAt) return null;
  const isReady = (await blockTime(chainAccount.url)) >= readyAt;
  const found = { readyAt: Number(readyAt), isReady, supporters: Number(supporters) };
  const owners = ({ digits }: { digits: string }) =>
    listAt(digits, restAt(digits, 0, WORD), (at) => bytesAt(digits, at));
  const started = await logs(chainAccount, chainAccount.address, [[RECOVERY_STARTED]], owners);
  for (const newOwners of started.toReversed()) {
    const ids = await Promise.all(newOwners.map((it) => keyIdOf(chainAccount, it)));
    const hash = await chainAccount.vault.keccak256(fromHex(ids.map((it) => it.slice(2)).join("")));
    if (BigInt(hash) % SHORT === short) return { ...found, newOwners };
  }
  return { ...found, newOwners: null };
}

/** @returns how many guardians signed the recovery that is under way; 0: none is. Searches no logs */
export async function supportersOf({ url, address }: AccountOnChain): Promise<number> {
  const [, supporters] = await words(url, address, PENDING_RECOVERY, 3);
  return Number(supporters);
}

/**
 * Returns the signed changes that were brought to this chain, from the first, out of the transactions' input. The list
 * ends before a change that no transaction of the account's events contains. Forged changes may be among them, as other
 * candidates of the same sequence: `accepted` (candidates.ts) chooses.
 *
 * @param chainAccount of an account that exists
 */
export async function historyOf(chainAccount: AccountOnChain): Promise<SignedChanges[]> {
  const names = new Set(await logs(chainAccount, chainAccount.address, [CHANGED], ({ transaction }) => transaction));
  const answers = await Promise.all([...names].map((it) => ask(chainAccount.url, "eth_getTransactionByHash", [it])));
  const known = (answers as Foreign[]).filter((it) => it?.input !== undefined);
  const inputs = known.map((it) => `0x${digitsOf(it?.input)}`);
  const found = inputs.flatMap((it) => changesIn(chainAccount.address, it));
  const applied = (await settingsOf(chainAccount.url, chainAccount.address)).sequence;
  const history = [];
  for (let number = 0; number < applied; number += 1) {
    const candidates = found.filter(({ sequence }) => sequence === number);
    if (!candidates.length) break;
    history.push(...new Map(candidates.map((it) => [JSON.stringify(it), it])).values());
  }
  return history;
}
