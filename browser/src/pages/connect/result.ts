/** Creates the result for the application after the person has allowed it. */

import { toHex } from "../../bytes.ts";
import type { Connected as Result } from "../../connect.ts";
import { signedText } from "../../connect/message.ts";
import type { ConnectRequest, Sign } from "../../connect/request.ts";
import { ownKey } from "../../vault/own_key.ts";
import type { Client } from "../library.ts";
import { ProblemError } from "../parts/problems.ts";
import { ready } from "../parts/vault_client.ts";
import { permission } from "../vault/permission.ts";

/**
 * @param returnTo where the result goes: "window", or an address
 * @throws {ProblemError} the request has expired
 */
export async function result(
  origin: URL,
  returnTo: string,
  { account, sign, delegate, expires }: ConnectRequest,
): Promise<Result> {
  if (expires * 1000 <= Date.now()) throw new ProblemError("connect.expired");
  const client = await ready();
  const { did } = await client.vault.query();
  return {
    did,
    ...(account && { account: await accountOf(client) }),
    ...(sign && { signature: await signature(client, { origin: origin.origin, returnTo, did, ...sign }) }),
    ...(delegate && {
      delegation: await permission({
        to: delegate.to,
        most: BigInt(delegate.limit),
        expiration: delegate.expires,
        origin: origin.origin,
      }),
    }),
  };
}

async function accountOf(client: Client) {
  const { address, contracts } = await client.account();
  return { address, chainId: contracts.chainId };
}

/**
 * Signs the text, preceded by a header with the origin and where the result goes, so that the signature is of no use to
 * other applications, or to a page elsewhere to which the application's site leads the browser.
 */
async function signature(client: Client, facts: Sign & { origin: string; returnTo: string; did: string }) {
  const message = signedText({ ...facts, issued: new Date() });
  const { vault } = client;
  const { signature: signed } = await vault.signMessage(message);
  const { result: keys } = await vault.exec("resource:enclaves action:list");
  const { point: publicKey } = await ownKey(facts.did, keys, (octets) => vault.keccak256(octets));
  return { message, signature: toHex(signed), publicKey };
}
