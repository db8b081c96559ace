/** Asks the chain about an alias before a commitment to it is paid for. */

import { getAlias, readAlias } from "../chain/did_calls.js";
import { OperationFailed } from "../chain/errors.js";
import { textHash } from "../chain/names.js";
import { ask } from "../chain/rpc.js";

/**
 * Throws if the chain says that a DID has this alias. The registry says so only after a commitment. Without an endpoint of
 * the chain that answers, nothing is thrown.
 * @param {import("../vault/vault.js").Vault} vault @param {import("./account.js").SmartAccount} account
 * @param {string} alias in the canonical form
 * @throws {OperationFailed}
 */
export async function requireFree(vault, account, alias) {
  const url = await account.endpoint();
  if (!url) return;
  const call = { to: account.contracts.didRegistry, data: getAlias(await textHash(vault, alias)) };
  const answer = await ask(url, "eth_call", [call, "latest"]).catch(() => "");
  if (!isTaken(answer)) return;
  const message = `the alias ${alias} is taken on the chain: choose another`;
  throw Object.assign(new OperationFailed(message), { reason: "AliasTaken" });
}

/** @param {unknown} answer */
function isTaken(answer) {
  try {
    return readAlias(answer).didHash !== null;
  } catch {
    return false;
  }
}
