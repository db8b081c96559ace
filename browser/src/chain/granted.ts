/** Reads the permissions of an account from its chain. The contract keeps only their IDs; its events have the rest. */

import { fromHex } from "../bytes.ts";
import { WORD } from "./abi.ts";
import { digitsAt } from "./lists.ts";
import { type AccountOnChain, logs } from "./logs.ts";
import { checksumAddress } from "./names.ts";
import { words } from "./owners.ts";
import { type Permission, permissionIn } from "./permissions.ts";

const PERMISSION_STATE = "ca465add"; // permissionState((bytes32,…)), of the permission's nine words
const PERMISSION_GRANTED =
  "PermissionGranted(bytes32,bytes32,(bytes32,address,uint160,uint48,uint48,uint48,address,bytes4,uint256))";

/**
 * a permission; what was spent and is left in this period, in the token's smallest unit; `periodEnd`: Unix time, 0 if
 * all the time is one period
 */
export type Granted = { id: string; permission: Permission; spent: bigint; left: bigint; periodEnd: number };

/**
 * @param id only this one
 * @returns the permissions that are granted, oldest first
 */
export async function permissionsOf(chainAccount: AccountOnChain, id?: string): Promise<Granted[]> {
  const wanted = [[PERMISSION_GRANTED], ...(id ? [id] : [])] as [string[], ...string[]];
  const found = await logs(chainAccount, chainAccount.address, wanted, ({ digits }) => digitsAt(digits, 0, 9 * WORD));
  const states = await Promise.all([...new Set(found)].map((digits) => granted(chainAccount, digits)));
  return states.flatMap((it) => (it && [undefined, it.id].includes(id) ? [it] : []));
}

/** @param digits the permission's words */
async function granted(chainAccount: AccountOnChain, digits: string): Promise<Granted | null> {
  const { vault, url, address } = chainAccount;
  const [isGranted, spent, left, , periodEnd] = await words(url, address, PERMISSION_STATE + digits, 5);
  if (!isGranted) return null;
  const [id, it] = [await vault.keccak256(fromHex(digits)), permissionIn(digits)];
  const [token, target] = await Promise.all([it.token, it.target].map((of) => checksumAddress(vault, of)));
  return { id, permission: { ...it, token, target }, spent, left, periodEnd: Number(periodEnd) };
}
