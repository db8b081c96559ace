/** Gets, and takes back, what the service stores about the vault's DID, by requests that the vault's key signs. */

import "../core.ts";
import type { Client } from "../client.ts";
import type { AddressAdded, Attestation, Endpoint, PersonExport, PersonRemoved } from "../generated/types.ts";
import { audienceOf, tokenOf } from "./signature.ts";

/** what is taken back */
export type Removal =
  { credentialId: string } | { identifier: string; channel: "handle" | "email" | "sms" } | { everything: true };

/** all rows about a DID; of these, the fields that this client reads */
export interface StoredPerson extends Omit<PersonExport, "identifiers" | "credentials"> {
  identifiers: { channel: "handle" | "email" | "sms"; key: string; given: string; stage: string }[];
  credentials: { channel: string; key: string; signed: boolean }[];
}

/** how many of each kind */
export type Removed = { identifiers: number; credentials: number; snapshots: number; pins: number };

const POST = { method: "POST", reads: "json" as const, safe: true };

/** @param client its vault is open @returns all rows about the DID, by kind */
export function exportPerson(client: Client): Promise<StoredPerson> {
  return signedCall(client, { method: "GET", path: "/api/person", reads: "json" }, "/person/export");
}

/**
 * The service carries a signed request out once, so that a repeat has no second effect.
 * @param client its vault is open
 */
export async function takeBack(client: Client, removal: Removal): Promise<Removed> {
  const endpoint = { ...POST, path: "/api/person/removals", form: "PersonRemoved" };
  const removed = await signedCall<PersonRemoved>(client, endpoint, "/person/remove", removal);
  const { identifiers, credentials, snapshots, pins } = removed;
  return { identifiers, credentials, snapshots, pins };
}

/** @param client its vault is open */
export async function addAddress(
  client: Client,
  attestation: Attestation,
): Promise<{ identifier: string; channel: string }> {
  const endpoint = { ...POST, path: "/api/person/identifiers", form: "AddressAdded" };
  const { identifier, channel } = await signedCall<AddressAdded>(client, endpoint, "/person/add", { attestation });
  return { identifier, channel };
}

async function signedCall<T>(
  client: Client,
  endpoint: Endpoint,
  command: string,
  args: Record<string, unknown> = {},
): Promise<T> {
  const authorization = `Bearer ${await tokenOf(client.vault, audienceOf(client), command, args)}`;
  return client._call(endpoint, undefined, { authorization });
}
