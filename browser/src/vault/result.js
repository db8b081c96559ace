/** The interface's short form of a new vault. */

import { PluginCallError } from "../errors.js";

/**
 * @param {import("../generated/types.js").GenerateOutputWithShares & {parsed_credential: any}} made by `vault.generate`
 * @returns {import("../generated/types.js").GenerateResult}
 * @throws {PluginCallError} the vault was created without shares
 */
export function generateResult({ did, accounts, enclave_id, encrypted_shares, parsed_credential }) {
  if (!encrypted_shares) throw new PluginCallError("generate", "the vault has no shares");
  const shares = { ...encrypted_shares, enclave_id };
  return { success: true, did, address: accounts[0].address, shares, parsed_credential };
}
