/** Gets, and takes back, what the service stores about the vault's DID, by requests that the vault's key signs. */

import "../core.js";
import { audienceOf, tokenOf } from "./signature.js";

/**
 * @import {Client} from "../client.js"
 * @import {Attestation, Endpoint} from "../generated/types.js"
 * @typedef {{credentialId: string} | {identifier: string, channel: "handle" | "email" | "sms"} | {everything: true}} Removal
 *   what is taken back
 * @typedef {{identifiers: number, credentials: number, snapshots: number, pins: number}} Removed how many of each kind
 */

const POST = { method: "POST", reads: /** @type {const} */ ("json"), safe: true };

/** @param {Client} client its vault is open @returns {Promise<Record<string, any>>} all rows about the DID, by kind */
export function exportPerson(client) {
  return signedCall(client, { method: "GET", path: "/api/person", reads: "json" }, "/person/export");
}

/**
 * The service carries a signed request out once, so that a repeat has no second effect.
 * @param {Client} client its vault is open
 * @param {Removal} removal @returns {Promise<Removed>}
 */
export async function takeBack(client, removal) {
  const endpoint = { ...POST, path: "/api/person/removals", form: "PersonRemoved" };
  const { identifiers, credentials, snapshots, pins } = await signedCall(client, endpoint, "/person/remove", removal);
  return { identifiers, credentials, snapshots, pins };
}

/**
 * @param {Client} client its vault is open
 * @param {Attestation} attestation @returns {Promise<{identifier: string, channel: string}>}
 */
export async function addAddress(client, attestation) {
  const endpoint = { ...POST, path: "/api/person/identifiers", form: "AddressAdded" };
  const { identifier, channel } = await signedCall(client, endpoint, "/person/add", { attestation });
  return { identifier, channel };
}

/** @param {Client} client @param {Endpoint} endpoint @param {string} command @param {Record<string, any>} [args] */
async function signedCall(client, endpoint, command, args = {}) {
  const authorization = `Bearer ${await tokenOf(client.vault, audienceOf(client), command, args)}`;
  return client._call(endpoint, undefined, { authorization });
}
