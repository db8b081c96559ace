/** Looks up accounts on the service that served this module, or on a different one. */

import type { AccountState, GetAccountStateInput, GetSmartAccountAddressInput } from "../generated/types.ts";
import { onCurve } from "./p256.ts";
import { ServiceClient } from "../http/service.ts";

const COORDINATE = /^(0x)?[0-9a-f]{1,64}$/i;

/**
 * Returns the address that the account of a P-256 key has or will have.
 *
 * @param input `salt` is 0 by default
 * @throws {NetworkError}
 * @throws {RangeError} the coordinates are not a point of P-256: no account can ever be created for them, and what is
 *   sent to such an address is lost
 */
export async function getSmartAccountAddress({
  pubKeyX,
  pubKeyY,
  salt = 0,
  vaultUrl,
}: GetSmartAccountAddressInput): Promise<string> {
  const key = [pubKeyX, pubKeyY];
  // The service refuses what is not hex, with its own message.
  if (key.every((it) => COORDINATE.test(it)) && !isKey(key))
    throw new RangeError("pubKeyX and pubKeyY are not a point of P-256");
  return (await at(vaultUrl).predictAddress({ pubKeyX, pubKeyY, salt: String(salt) })).address;
}

/**
 * Returns the state of an account on the chain.
 *
 * @throws {NetworkError}
 */
export async function getAccountState({ account, vaultUrl }: GetAccountStateInput): Promise<AccountState> {
  return at(vaultUrl).accountState({ account });
}

/** @param coordinates hex */
function isKey(coordinates: string[]) {
  const [x, y] = coordinates.map((it) => BigInt(`0x${it.replace(/^0x/i, "")}`));
  return onCurve(x, y);
}

function at(vaultUrl?: string) {
  return new ServiceClient(vaultUrl ? { baseUrl: vaultUrl } : {});
}
