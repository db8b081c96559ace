/** The registration on the chain, where the service has a bundler. */

import { RequestRefused } from "../errors.js";

/**
 * @param {import("../client.js").Client} client
 * @param {import("./journal.js").Journal} journal
 * @param {import("./register.js").RegistrationRequest} _request
 */
export async function registerOnChain(client, journal, _request) {
  if (journal.row.txHash || !(await hasBundler(client))) return;
  throw new Error("not yet");
}

/** @param {import("../client.js").Client} client */
async function hasBundler(client) {
  try {
    await client.bundler("eth_supportedEntryPoints");
    return true;
  } catch (error) {
    if (error instanceof RequestRefused && error.code === "bundler_not_configured") return false;
    throw error;
  }
}
