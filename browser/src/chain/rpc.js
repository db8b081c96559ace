/** Calls the chain's JSON-RPC endpoint directly, which the application or the service names. */

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
/** IP addresses as URL writes them. */
const LITERAL = /^(\[.*|\d+(\.\d+){3})$/;

/**
 * @param {import("../http/service.js").ServiceClient} client
 * @param {import("./own_gas.js").GasPolicy} policy
 * @returns {Promise<string>} "" if there is none
 */
export async function rpcOf(client, { rpcUrl }) {
  return rpcUrl ?? endpointNamed((await client.status()).rpc ?? "", client.baseUrl);
}

/**
 * Returns the address that a service names if it may be used: an https address with a name, or this machine if the
 * service is on it too. Otherwise a service could have the person's own network asked. The same rule as in the Python client.
 *
 * @param {string} named
 * @param {string} service the service's address
 */
export function endpointNamed(named, service) {
  if (!URL.canParse(named)) return "";
  const [{ protocol, hostname }, own] = [new URL(named), new URL(service)];
  const may = LOOPBACK.test(hostname)
    ? LOOPBACK.test(own.hostname) && ["http:", "https:"].includes(protocol)
    : protocol === "https:" && !LITERAL.test(hostname);
  return may ? named : "";
}

/**
 * @param {string} url
 * @param {string} method
 * @param {unknown[]} [params]
 */
export async function ask(url, method, params = []) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return (await response.json()).result;
}
