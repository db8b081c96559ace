/** The delegation behind a permission to pay: what was allowed, in the terms that payments are judged by. */

import { checksumAddress } from "../library.js";
import { addFacts } from "../parts/notes.js";
import { ready } from "../parts/vault_client.js";
import { decimalOf } from "./values.js";

export const USDC_DECIMALS = 6;
const PAY = "/accounts/pay";
/** The address of USDC at this service's chain; empty where it has none, and nothing can be limited in it. */
export const USDC = document.querySelector('meta[name="holdfast-usdc"]')?.getAttribute("content") ?? "";

/**
 * The most that a delegation lets an application pay, all together, as its own policy says: the vault keeps the token, and
 * brings it to every browser.
 *
 * @param {any} row of the vault's delegations
 * @returns {Promise<string | null>} in USDC; null where it limits something else
 */
export async function limitOf({ command, token }) {
  if (command !== PAY || !token) return null;
  const { value } = await (await ready()).vault.call("dag_cbor_decode", { data: token }).catch(() => ({ value: null }));
  return limitOfPolicy(payloadOf(value)?.pol);
}

/**
 * @param {any} policy statements as UCAN has them
 * @returns {string | null} in USDC
 */
export function limitOfPolicy(policy) {
  if (!Array.isArray(policy)) return null;
  const most = policy.find(([operator, field]) => operator === "<=" && field === ".total")?.[2];
  const isUsdc = policy.some(([operator, field, value]) => operator === "==" && field === ".token" && String(value).toLowerCase() === USDC.toLowerCase());
  return isUsdc && Number.isSafeInteger(most) ? decimalOf(BigInt(most), USDC_DECIMALS) : null;
}

/** What is signed in an envelope of UCAN 1.0. @param {any} envelope */
function payloadOf(envelope) {
  const signed = Array.isArray(envelope) ? envelope[1] : null;
  const name = Object.keys(signed ?? {}).find((key) => key.startsWith("ucan/dlg@"));
  return name === undefined ? null : signed[name];
}

/**
 * Delegates payments to a DID.
 *
 * @param {{to: string, most: bigint, expiration: number, origin?: string}} limits `most`: millionths of USDC, all
 *   together; `expiration`: seconds since 1970; `origin`: of the application that asked
 * @returns {Promise<{container: string, cid: string}>}
 */
export async function permission({ to, most, expiration, origin }) {
  const client = await ready();
  const { vault } = client;
  const [{ chainId }, token] = await Promise.all([client.status(), checksumAddress(vault, USDC)]);
  const policy = [["==", ".token", token], ["==", ".chainId", chainId], ["<=", ".total", Number(most)]];
  const { container, cid } = await vault.delegate({ to, command: PAY, expiration, policy });
  if (origin) await addFacts(cid, { origin });
  return { container, cid };
}
