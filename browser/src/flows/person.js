/** Gets, and takes back, what the service stores about the vault's DID, by requests that the vault's key signs. */

import "../core.js";
import { didOfService, tokenOf } from "./signature.js";

/** @import {Client} from "../client.js" */

/**
 * @typedef {{credentialId: string} | {identifier: string, channel: "handle" | "email" | "sms"} | {everything: true}} Removal
 *   what is taken back
 * @typedef {{identifiers: number, credentials: number, snapshots: number, pins: number}} Removed how many of each kind
 */

/**
 * @param {Client} client its vault is open
 * @returns {Promise<Record<string, any>>} all rows about the DID, by kind
 */
export async function exportPerson(client) {
  const headers = await signed(client, "/person/export", {});
  return client._call({ method: "GET", path: "/api/person", reads: "json" }, undefined, headers);
}

/**
 * The service carries a signed request out once, so that a repeat has no second effect.
 * @param {Client} client its vault is open
 * @param {Removal} removal @returns {Promise<Removed>}
 */
export async function takeBack(client, removal) {
  const headers = await signed(client, "/person/remove", removal);
  const { identifiers, credentials, snapshots, pins } = await client._call(
    { method: "POST", path: "/api/person/removals", reads: "json", safe: true },
    undefined,
    headers,
  );
  return { identifiers, credentials, snapshots, pins };
}

/**
 * @param {Client} client its vault is open
 * @param {import("../generated/types.js").Attestation} attestation
 * @returns {Promise<{identifier: string, channel: string}>}
 */
export async function addAddress(client, attestation) {
  const headers = await signed(client, "/person/add", { attestation });
  const { identifier, channel } = await client._call(
    { method: "POST", path: "/api/person/identifiers", reads: "json", safe: true },
    undefined,
    headers,
  );
  return { identifier, channel };
}

/** @param {Client} client @param {string} command @param {Record<string, any>} args */
async function signed({ vault, baseUrl, serviceDid }, command, args) {
  return { authorization: `Bearer ${await tokenOf(vault, serviceDid ?? didOfService(baseUrl), command, args)}` };
}
