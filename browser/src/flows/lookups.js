/** Looks up accounts on the service that served this module, or on a different one. */

import { ServiceClient } from "../http/service.js";

/**
 * Returns the address that the account of a P-256 key has or will have.
 *
 * @param {import("../generated/types.js").GetSmartAccountAddressInput} input `salt` is 0 by default
 * @returns {Promise<string>}
 * @throws {NetworkError}
 */
export async function getSmartAccountAddress({ pubKeyX, pubKeyY, salt = 0, vaultUrl }) {
  return (await at(vaultUrl).predictAddress({ pubKeyX, pubKeyY, salt: String(salt) })).address;
}

/**
 * Returns the state of an account on the chain.
 *
 * @param {import("../generated/types.js").GetAccountStateInput} input
 * @returns {Promise<import("../generated/types.js").AccountState>}
 * @throws {NetworkError}
 */
export async function getAccountState({ account, vaultUrl }) {
  return at(vaultUrl).accountState({ account });
}

/** @param {string} [vaultUrl] */
function at(vaultUrl) {
  return new ServiceClient(vaultUrl ? { baseUrl: vaultUrl } : {});
}
