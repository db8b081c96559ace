/** Reads the permissions of an account from its chain. The contract keeps only their IDs; its events have the rest. */

import { fromHex } from "../bytes.js";
import { WORD } from "./abi.js";
import { digitsAt } from "./lists.js";
import { logs } from "./logs.js";
import { checksumAddress } from "./names.js";
import { words } from "./owners.js";
import { permissionIn } from "./permissions.js";

const PERMISSION_STATE = "ca465add"; // permissionState((bytes32,…)), of the permission's nine words
const PERMISSION_GRANTED =
  "PermissionGranted(bytes32,bytes32,(bytes32,address,uint160,uint48,uint48,uint48,address,bytes4,uint256))";

/**
 * @typedef {import("./logs.js").AccountOnChain} AccountOnChain
 * @typedef {{id: string, permission: import("./permissions.js").Permission, spent: bigint, left: bigint,
 *   periodEnd: number}} Granted a permission; what was spent and is left in this period, in the token's smallest unit;
 *   `periodEnd`: Unix time, 0 if all the time is one period
 */

/**
 * @param {AccountOnChain} chainAccount
 * @param {string} [id] only this one
 * @returns {Promise<Granted[]>} the permissions that are granted, oldest first
 */
export async function permissionsOf(chainAccount, id) {
  const wanted = /** @type {[string[], ...string[]]} */ ([[PERMISSION_GRANTED], ...(id ? [id] : [])]);
  const found = await logs(chainAccount, chainAccount.address, wanted, ({ digits }) => digitsAt(digits, 0, 9 * WORD));
  const states = await Promise.all([...new Set(found)].map((digits) => granted(chainAccount, digits)));
  return states.flatMap((it) => (it && [undefined, it.id].includes(id) ? [it] : []));
}

/** @param {AccountOnChain} chainAccount @param {string} digits the permission's words @returns {Promise<Granted | null>} */
async function granted(chainAccount, digits) {
  const { vault, url, address } = chainAccount;
  const [isGranted, spent, left, , periodEnd] = await words(url, address, PERMISSION_STATE + digits, 5);
  if (!isGranted) return null;
  const [id, it] = [await vault.keccak256(fromHex(digits)), permissionIn(digits)];
  const [token, target] = await Promise.all([it.token, it.target].map((of) => checksumAddress(vault, of)));
  return { id, permission: { ...it, token, target }, spent, left, periodEnd: Number(periodEnd) };
}
