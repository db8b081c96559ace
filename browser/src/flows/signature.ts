/** Tokens for a service, signed by the vault's key, and the registration of a credential with one. */

import type { Client } from "../client.ts";
import type { Attestation } from "../generated/types.ts";
import type { Vault } from "../vault/vault.ts";

/** The placeholder that is sent as the transaction hash to a service without a bundler. */
export const NO_TRANSACTION = `0x${"00".repeat(32)}`;
const REGISTER = "/dids/register";

/** what a registration says */
export interface Registered {
  did: string;
  identifier: string;
  channel: string;
  txHash?: string;
  blockNumber?: number | null;
  smartAccount?: string | null;
  attestation?: Attestation;
}

const LIVES_S = 300;
const LOOPBACK = new Set(["127.0.0.1", "[::1]"]);

/**
 * Returns a token for one request, signed by the vault's key (decision 0621). The vault does not record it, because a
 * new row would be a change whose upload needs another token.
 */
export async function tokenOf(vault: Vault, audience: string, command: string, args: Record<string, unknown> = {}) {
  const expiration = Math.floor(Date.now() / 1000) + LIVES_S;
  return (await vault.invoke({ command, args, audience, expiration, record: false })).container;
}

/**
 * Registers a credential with the service, signed by the vault's key: strangers' credentials are then no obstacle to
 * the owner's, and recoveries know the identifier. If the vault was locked in the meantime, nothing is sent.
 */
export async function registerCredential(client: Client, credentialId: string, row: Registered) {
  const { identifier, channel, did, txHash = NO_TRANSACTION, blockNumber, smartAccount, attestation } = row;
  const mined = { ...(blockNumber && { blockNumber }), ...(smartAccount && { smartAccount }) };
  const fields = { credentialId, identifier, channel, did, txHash, ...mined, ...(attestation && { attestation }) };
  await client.registerDid(fields, await tokenOf(client.vault, audienceOf(client), REGISTER, { credentialId }));
}

/** Returns the DID of a client's service, to which tokens are addressed. */
export function audienceOf({ serviceDid, baseUrl }: Client) {
  return serviceDid ?? didOfService(baseUrl);
}

/**
 * Returns the did:web of a service's address, in which an IPv6 address is percent-encoded. As the audience of a token,
 * it rules out other services.
 * @param url a loopback address counts as localhost
 */
export function didOfService(url: string): string {
  const { hostname, port } = new URL(url);
  const host = LOOPBACK.has(hostname) ? "localhost" : hostname;
  return `did:web:${encodeURIComponent(host)}${port && `%3A${port}`}`;
}
