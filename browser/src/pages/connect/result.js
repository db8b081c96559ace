/** Creates the result for the application after the person has allowed it. */

import { fromHex, toHex } from "../../bytes.js";
import { signedText } from "../../connect/message.js";
import { ProblemError } from "../parts/problems.js";
import { ready } from "../parts/vault_client.js";
import { permission } from "../vault/permission.js";

/**
 * @typedef {import("../../connect.js").Connected} Result
 * @typedef {import("../../connect/request.js").ConnectRequest} ConnectRequest
 */

/**
 * @param {URL} origin
 * @param {string} returnTo where the result goes: "window", or an address
 * @param {ConnectRequest} requested
 * @returns {Promise<Result>}
 * @throws {ProblemError} the request has expired
 */
export async function result(origin, returnTo, { account, sign, delegate, expires }) {
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

/** @typedef {import("../library.js").Client} Client */

/** @param {Client} client */
async function accountOf(client) {
  const { address, contracts } = await client.account();
  return { address, chainId: contracts.chainId };
}

/**
 * Signs the text, preceded by a header with the origin and where the result goes, so that the signature is of no use to
 * other applications, or to a page elsewhere to which the application's site leads the browser.
 *
 * @param {Client} client
 * @param {import("../../connect/request.js").Sign & {origin: string, returnTo: string, did: string}} facts
 */
async function signature(client, facts) {
  const message = signedText({ ...facts, issued: new Date() });
  const { signature: signed } = await client.vault.signMessage(message);
  return { message, signature: toHex(signed), publicKey: await keyOf(client, facts.did) };
}

/**
 * Returns the key whose hash is the DID.
 *
 * @param {Client} client
 * @param {string} did
 * @returns {Promise<string>} uncompressed, hex
 */
async function keyOf({ vault }, did) {
  const listed = await vault.exec("resource:enclaves action:list");
  for (const { curve, public_key: point } of /** @type {any[]} */ (listed.result ?? [])) {
    if (curve !== "P-256") continue;
    if (`did:new:${await vault.keccak256(fromHex(point.slice(2)))}` === did) return point;
  }
  throw new ProblemError("problem.unknown", { reason: "the vault has no key of its DID" });
}
