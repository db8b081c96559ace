/** Looks up accounts on the service that served this module, on a client's, or on a different one. */

import type { AccountState, GetAccountStateInput, GetSmartAccountAddressInput } from "../generated/types.ts";
import { onCurve } from "./p256.ts";
import { ServiceClient } from "../http/service.ts";

const COORDINATE = /^(0x)?[0-9a-f]{1,64}$/i;

/**
 * Returns the address that the account of a P-256 key has or will have.
 *
 * @param input `salt` is 0 by default
 * @param service asked unless `vaultUrl` names another one
 * @throws {NetworkError}
 * @throws {RangeError} the coordinates are not a point of P-256: no account can ever be created for them, and what is
 *   sent to such an address is lost
 */
export async function getSmartAccountAddress(
  { pubKeyX, pubKeyY, salt = 0, vaultUrl }: GetSmartAccountAddressInput,
  service?: ServiceClient,
): Promise<string> {
  const key = [pubKeyX, pubKeyY];
  // The service refuses what is not hex, with its own message.
  if (key.every((it) => COORDINATE.test(it)) && !onCurve(numberOf(pubKeyX), numberOf(pubKeyY)))
    throw new RangeError("pubKeyX and pubKeyY are not a point of P-256");
  return (await at(vaultUrl, service).predictAddress({ pubKeyX, pubKeyY, salt: String(salt) })).address;
}

/**
 * Returns the state of an account on the chain.
 *
 * @param service asked unless `vaultUrl` names another one
 * @throws {NetworkError}
 */
export async function getAccountState(
  { account, vaultUrl }: GetAccountStateInput,
  service?: ServiceClient,
): Promise<AccountState> {
  return at(vaultUrl, service).accountState({ account });
}

/** @param coordinate hex */
function numberOf(coordinate: string) {
  return BigInt(`0x${coordinate.replace(/^0x/i, "")}`);
}

/** @param service anything else stands for none, as an index does that `Array.map` passes */
function at(baseUrl?: string, service?: ServiceClient) {
  if (baseUrl) return new ServiceClient({ baseUrl });
  return service instanceof ServiceClient ? service : new ServiceClient();
}
