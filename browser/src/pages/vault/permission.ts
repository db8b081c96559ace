/** Creates the delegation that grants a permission to pay, and reads the delegation's limit. */

import type { Delegation } from "../../enclave-answers.ts";
import { meta } from "../../kit/meta.ts";
import { checksumAddress } from "../library.ts";
import { addFacts } from "../../kit/notes.ts";
import { ready } from "../parts/vault_client.ts";
import { decimalOf } from "./values.ts";

export const USDC_DECIMALS = 6;
const PAY = "/accounts/pay";
/** The address of the USDC contract on this service's chain. If the address is empty, no limit can be set. */
export const USDC = meta("usdc");

/**
 * Returns the most that a delegation lets an application pay in total, as stated in the policy of the token that the
 * vault stores.
 *
 * @param row of the vault's delegations
 * @returns in USDC; null if it limits something else
 */
export async function limitOf({ command, token }: Delegation): Promise<string | null> {
  if (command !== PAY || !token) return null;
  const { value } = await (await ready()).vault.call("dag_cbor_decode", { data: token }).catch(() => ({ value: null }));
  return limitOfPolicy(payloadOf(value)?.pol);
}

/**
 * @param policy a list of UCAN policy statements
 * @returns in USDC
 */
export function limitOfPolicy(policy: unknown): string | null {
  if (!Array.isArray(policy)) return null;
  const most = policy.find(([operator, field]) => operator === "<=" && field === ".total")?.[2];
  const isUsdc = policy.some(
    ([operator, field, value]) =>
      operator === "==" && field === ".token" && String(value).toLowerCase() === USDC.toLowerCase(),
  );
  return isUsdc && Number.isSafeInteger(most) ? decimalOf(BigInt(most), USDC_DECIMALS) : null;
}

/** Returns the signed payload of a UCAN 1.0 envelope. */
function payloadOf(envelope: unknown) {
  const signed = Array.isArray(envelope) ? envelope[1] : null;
  const name = Object.keys(signed ?? {}).find((key) => key.startsWith("ucan/dlg@"));
  return name === undefined ? null : signed[name];
}

/**
 * Delegates to a DID the right to make payments.
 *
 * @param limits `most`: in millionths of USDC, in total; `expiration`: seconds since 1970; `origin`: of the
 *   application that requested it
 */
export async function permission({
  to,
  most,
  expiration,
  origin,
}: {
  to: string;
  most: bigint;
  expiration: number;
  origin?: string;
}): Promise<{ container: string; cid: string }> {
  const client = await ready();
  const { vault } = client;
  const [{ chainId }, token] = await Promise.all([client.status(), checksumAddress(vault, USDC)]);
  const policy = [
    ["==", ".token", token],
    ["==", ".chainId", chainId],
    ["<=", ".total", Number(most)],
  ];
  const { container, cid } = await vault.delegate({ to, command: PAY, expiration, policy });
  if (origin) await addFacts(cid, { origin });
  return { container, cid };
}
