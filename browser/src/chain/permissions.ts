/**
 * Spending permissions of an account: their calls, and the delegation that goes with each (docs/contracts.md, "Accounts").
 * The account counts and enforces the permission. The delegation tells the app's key what it holds: its policy names the
 * account, its chain, and the permission by its ID. No device redeems it, so an app has one total.
 */

import { address, bytes, number, tuple, WORD } from "./abi.ts";
import { type Call, isAddress, type Payment } from "./calls.ts";
import { NATIVE } from "./native.ts";

export const SPEND_COMMAND = "/accounts/spend";
const GRANT = "8de95073"; // grantPermission((bytes32,address,uint160,uint48,uint48,uint48,address,bytes4,uint256))
const REVOKE = "e89005c7"; // revokePermission(bytes32)
const SPEND = "6ea779cf"; // spend((bytes32,address,uint160,uint48,uint48,uint48,address,bytes4,uint256),address,uint256,bytes)
export const NOBODY = `0x${"0".repeat(40)}`;
const ID = /^0x[0-9a-f]{64}$/;
const DID_NEW = /^did:new:(0x[0-9a-f]{64})$/;
const [SELECTOR, FUNCTION] = [10, 10];

/** what a key may spend, as the contract's `Permission` (contracts/src/account/Permissions.sol) */
export interface Permission {
  /** Keccak-256 of the spender's signer, 0x-hex */ keyId: string;
  /** an ERC-20 address, or zeros for the chain's coin */ token: string;
  /** the most in one period, in the token's smallest unit */ allowance: bigint;
  /** seconds; 0: all the time is one period */ period: number;
  /** Unix time */ start: number;
  /** Unix time; 0: no end */ until: number;
  /** the only receiver, or zeros for any */ target: string;
  /** the only function of the target that may be called, or zeros for transfers only; 0x-hex */ function: string;
  /** distinguishes permissions that are otherwise equal */ salt: bigint;
}

/** what a person lets an app spend */
export interface SpendingTerms {
  /** the app's `did:new`, which is the hash of the key that may spend */ to: string;
  /** an ERC-20 address with the checksum of EIP-55, or "native" */ token: string;
  /** as in `Permission` */ allowance: bigint;
  /** as in `Permission` */ period?: number;
  /** as in `Permission` */ until?: number;
  /** the only receiver, with the checksum of EIP-55; null: anyone */ payee?: string | null;
}

/** which permission a delegation stands for */
export type Spending = { account: string; chainId: number; permissionId: string };

/**
 * @param start Unix time
 * @throws {TypeError} `to` is not a `did:new`, or a number exceeds its field in the contract
 */
export function permissionOf(
  { to, token, allowance, period = 0, until = 0, payee = null }: SpendingTerms,
  start: number,
  salt: bigint,
): Permission {
  const keyId = DID_NEW.exec(to)?.[1];
  if (!keyId) throw new TypeError("to: the did:new of the app, whose key spends");
  if (![period, start, until].every((it) => it >= 0 && it < 2 ** 48) || allowance < 0n || allowance >> 160n)
    throw new TypeError("allowance, period or until: outside the account's range");
  const [of, target] = [token === NATIVE ? NOBODY : token, payee ?? NOBODY];
  return { keyId, token: of, allowance, period, start, until, target, function: "0x00000000", salt };
}

/** Returns the permission's nine words, whose hash is its ID. @returns hex digits */
export function wordsOf(it: Permission): string {
  const times = [it.period, it.start, it.until].map(number);
  const called = it.function.slice(2).padEnd(WORD, "0");
  return [
    ...[it.keyId.slice(2), address(it.token), number(it.allowance)],
    ...[...times, address(it.target), called, number(it.salt)],
  ].join("");
}

/**
 * Returns the permission of these nine words, the reverse of `wordsOf`.
 *
 * @returns with addresses in lower case
 */
export function permissionIn(digits: string): Permission {
  const words = Array.from({ length: 9 }, (_, at) => `0x${digits.slice(at * WORD, (at + 1) * WORD)}`);
  const account = (word: string) => `0x${word.slice(-40)}`;
  const [period, start, until] = words.slice(3, 6).map(Number);
  return {
    keyId: words[0],
    token: account(words[1]),
    allowance: BigInt(words[2]),
    ...{ period, start, until, target: account(words[6]) },
    function: words[7].slice(0, FUNCTION),
    salt: BigInt(words[8]),
  };
}

/** The account's call of itself that grants a permission. */
export function grantPermission(account: string, it: Permission): Call {
  return { to: account, data: `0x${GRANT}${wordsOf(it)}` };
}

/**
 * Returns the permission that a call grants. A page must show it as decoded from the bytes to be signed.
 *
 * @returns null for any other call
 */
export function grantedBy({ data }: Call): Permission | null {
  const isGrant = data.startsWith(`0x${GRANT}`) && data.length === SELECTOR + 9 * WORD;
  return isGrant ? permissionIn(data.slice(SELECTOR)) : null;
}

/** @param id of the permission */
export function revokePermission(account: string, id: string): Call {
  return { to: account, data: `0x${REVOKE}${id.slice(2)}` };
}

/** The call by which the permission's spender transfers from the account. */
export function spend(account: string, it: Permission, to: string, amount: bigint): Call {
  const words = wordsOf(it).match(/.{64}/g) ?? [];
  return { to: account, data: `0x${SPEND}${tuple(...words, address(to), number(amount), bytes("0x"))}` };
}

/**
 * Returns the payment that the call data of a spender's operation makes.
 *
 * @param callData 0x-hex
 * @returns null if it is not a transfer by a permission, in canonical form
 */
export function spentBy(callData: string): Payment | null {
  const digits = callData.toLowerCase().slice(SELECTOR);
  const [permission, to] = [permissionIn(digits), `0x${digits.slice(9 * WORD + 24, 10 * WORD)}`];
  const amount = BigInt(`0x${digits.slice(10 * WORD, 11 * WORD) || 0}`);
  const isWhole = digits.length === 13 * WORD && spend(to, permission, to, amount).data === callData.toLowerCase();
  return isWhole ? { to, amount, token: tokenOf(permission) } : null;
}

/** Returns the ERC-20 token that a permission is about, or "native". */
export function tokenOf({ token }: Permission) {
  return token === NOBODY ? NATIVE : token;
}

/** Returns the only function of the receiver that the spender may call, in 0x-hex, or null for transfers only. */
export function calledFunction({ function: name }: Permission) {
  return /[^0x]/.test(name) ? name : null;
}

/** Returns the only receiver of a permission, or null. */
export function payeeIn({ target }: Permission) {
  return target === NOBODY ? null : target;
}

/**
 * Returns the policy of the delegation that goes with a permission.
 *
 * @param permission with the checksums of EIP-55
 */
export function policyOf({ account, chainId, permissionId }: Spending, permission: Permission): unknown[] {
  const payee = payeeIn(permission);
  return [
    ["==", ".account", account],
    ["==", ".chainId", chainId],
    ["==", ".permission", permissionId],
    ["==", ".token", tokenOf(permission)],
    ...(payee ? [["==", ".to", payee]] : []),
  ];
}

/**
 * Returns which permission a delegation's policy names.
 *
 * @param policy a list of UCAN policy statements
 * @returns null if it names none
 */
export function spendingIn(policy: unknown): Spending | null {
  if (!Array.isArray(policy)) return null;
  const equal = policy.filter((it) => it.length === 3 && it[0] === "==").map(([, name, it]) => [name, it]);
  const named = Object.fromEntries(equal);
  const { ".account": account, ".chainId": chainId, ".permission": permissionId } = named;
  const isNamed = typeof permissionId === "string" && ID.test(permissionId);
  const isWhole = isAddress(account) && Number.isSafeInteger(chainId) && isNamed;
  return isWhole ? { account, chainId, permissionId } : null;
}
