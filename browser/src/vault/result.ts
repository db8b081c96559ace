/** The interface's short form of a new vault. */

import { PluginCallError } from "../errors.ts";
import type { Answer } from "../enclave-answers.ts";
import type { GenerateResult } from "../generated/types.ts";

/**
 * @param made by `vault.generate`
 * @throws {PluginCallError} the vault was created without shares
 */
export function generateResult({
  did,
  accounts,
  enclave_id,
  encrypted_shares,
  parsed_credential,
}: Answer<"generate">): GenerateResult {
  if (!encrypted_shares) throw new PluginCallError("generate", "the vault has no shares");
  const shares = { ...encrypted_shares, enclave_id };
  return { success: true, did, address: accounts[0].address, shares, parsed_credential };
}
