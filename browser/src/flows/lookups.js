/** Two questions about accounts, to the service that served this module or to another one. */

import { ServiceClient } from "../http/service.js";

/**
 * The address that the account of a P-256 key has or will have.
 *
 * @param {import("../generated/types.js").GetSmartAccountAddressInput} input `salt` 0 unless given
 * @returns {Promise<string>}
 * @throws {NetworkError}
 */
export async function getSmartAccountAddress({ pubKeyX, pubKeyY, salt = 0, vaultUrl }) {
  return (await at(vaultUrl).predictAddress({ pubKeyX, pubKeyY, salt: String(salt) })).address;
}

/**
 * The state of an account on the chain.
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
