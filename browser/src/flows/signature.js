/** The vault's signature of a registration. It makes strangers' credentials no obstacle to the owner's. */

const REGISTER = "/dids/register";
const LIVES_S = 300;
const LOOPBACK = new Set(["127.0.0.1", "[::1]"]);

/**
 * Returns a token that signs the registration of one credential.
 * @param {import("../client.js").Client} client @param {string} credentialId
 * @returns {Promise<string | null>} null: the vault was locked in the meantime; the service accepts a registration
 *   without a signature
 */
export async function signatureOf({ vault, baseUrl }, credentialId) {
  const expiration = Math.floor(Date.now() / 1000) + LIVES_S;
  const invocation = {
    command: REGISTER,
    args: { credentialId },
    audience: didOfService(baseUrl),
    expiration,
    record: false,
  };
  return vault.invoke(invocation).then(
    ({ container }) => container,
    () => null,
  );
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
