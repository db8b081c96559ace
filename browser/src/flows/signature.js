/** Tokens for a service, signed by the vault's key. */

/**
 * @import {Client} from "../client.js"
 * @import {Vault} from "../vault/vault.js"
 */

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
 * Returns a token that signs the registration of one credential. It makes strangers' credentials no obstacle to the
 * owner's.
 * @param {Client} client @param {string} credentialId
 * @returns {Promise<string | null>} null: the vault was locked in the meantime; the service accepts a registration
 *   without a signature
 */
export function signatureOf({ vault, baseUrl }, credentialId) {
  return tokenOf(vault, didOfService(baseUrl), REGISTER, { credentialId }).catch(() => null);
}

/**
 * Returns the did:web of a service's address. With this DID as its audience, a token cannot be used with another
 * service.
 * @param {string} url a loopback address counts as localhost
 * @returns {string}
 */
export function didOfService(url) {
  const { hostname, port } = new URL(url);
  const host = LOOPBACK.has(hostname) ? "localhost" : hostname;
  return `did:web:${host}${port && `%3A${port}`}`;
}
