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
  await addFacts(cid, { limit: decimalOf(most, USDC_DECIMALS), ...(origin && { origin }) });
  return { container, cid };
}
