/** Tokens for a service, signed by the vault's key, and the registration of a credential with one. */

/**
 * @import {Client} from "../client.js"
 * @import {Attestation} from "../generated/types.js"
 * @import {Vault} from "../vault/vault.js"
 */

/** The placeholder that is sent as the transaction hash to a service without a bundler. */
export const NO_TRANSACTION = `0x${"00".repeat(32)}`;
const REGISTER = "/dids/register";
const LIVES_S = 300;
const LOOPBACK = new Set(["127.0.0.1", "[::1]"]);

/**
 * Returns a token for one request, signed by the vault's key (decision 0621). The vault does not record it, because a new
 * row would be a change whose upload needs another token.
 * @param {Vault} vault @param {string} audience @param {string} command @param {Record<string, any>} [args]
 */
export async function tokenOf(vault, audience, command, args = {}) {
  const expiration = Math.floor(Date.now() / 1000) + LIVES_S;
  return (await vault.invoke({ command, args, audience, expiration, record: false })).container;
}

/**
 * Registers a credential with the service, signed by the vault's key: strangers' credentials are then no obstacle to the
 * owner's. The service accepts it without a signature too, if the vault was locked in the meantime.
 * @param {Client} client @param {string} credentialId
 * @param {{identifier: string, channel: string, did: string, txHash?: string, blockNumber?: number | null, smartAccount?: string | null, attestation?: Attestation}} row
 */
export async function registerCredential(client, credentialId, row) {
  const { identifier, channel, did, txHash = NO_TRANSACTION, blockNumber, smartAccount, attestation } = row;
  const mined = { ...(blockNumber && { blockNumber }), ...(smartAccount && { smartAccount }) };
  const fields = { credentialId, identifier, channel, did, txHash, ...mined, ...(attestation && { attestation }) };
  const token = tokenOf(client.vault, audienceOf(client), REGISTER, { credentialId });
  await client.registerDid(fields, await token.catch(() => null));
}

/** Returns the DID of a client's service, to which tokens are addressed. @param {Client} client */
export function audienceOf({ serviceDid, baseUrl }) {
  return serviceDid ?? didOfService(baseUrl);
}

/**
 * Returns the did:web of a service's address, in which an IPv6 address is percent-encoded. As the audience of a token, it
 * rules out other services.
 * @param {string} url a loopback address counts as localhost
 * @returns {string}
 */
export function didOfService(url) {
  const { hostname, port } = new URL(url);
  const host = LOOPBACK.has(hostname) ? "localhost" : hostname;
  return `did:web:${encodeURIComponent(host)}${port && `%3A${port}`}`;
}
