/**
 * Registers a vault on the chain, if the service has a bundler. Registering a handle may require a commitment first.
 */

import { AccountNotFunded, GasTooDear, OperationFailed, isRefusal, isStale, revertOf } from "../chain/errors.js";
import { textHash } from "../chain/names.js";
import { BLOCK_WITHIN_MS, CLAIM_ATTEMPTS, RECEIPT_AGAIN_MS } from "../generated/operation_retries.js";
import { RegistrationRefused } from "../errors.js";
import { SmartAccount } from "./account.js";

/** Selectors of the registry's errors: NotCommitted(bytes32), CommitmentExpired and CommitmentTooNew(bytes32,uint256). */
const [NOT_COMMITTED, EXPIRED, TOO_NEW] = ["4ebe8a4d", "8c68b006", "5b9f9ba2"];

/**
 * @typedef {import("../client.js").Client} Client
 * @typedef {import("./journal.js").Journal} Journal
 * @typedef {import("./register.js").RegistrationRequest} RegistrationRequest
 */

/**
 * Registers the vault's DID on the chain, with a handle as its alias. Continues from the state recorded in the journal.
 *
 * @param {Client} client
 * @param {Journal} journal
 * @param {RegistrationRequest} request
 * @throws {OperationFailed}
 */
export async function registerOnChain(client, journal, request) {
  if (journal.row.txHash || !(await hasBundler(client))) return;
  const account = await SmartAccount.open(client, client.gas);
  const { did, operationHash } = journal.row;
  const registered = (await account.state()).did === (await textHash(client.vault, did));
  if (operationHash && (registered || (await arrived(account, operationHash))))
    return noted(account, journal, operationHash, request);
  if (registered)
    throw new RegistrationRefused(
      "this DID is on the chain already: it was registered earlier, or from another device",
    );
  const hash = await sentRegistration(client, account, journal, request);
  await noted(account, journal, hash, request);
}

/** @param {Client} client */
async function hasBundler(client) {
  try {
    await client.bundler("eth_supportedEntryPoints");
    return true;
  } catch (error) {
    if (isRefusal(error, "bundler_not_configured")) return false;
    throw error;
  }
}

/**
 * @param {Client} client
 * @param {SmartAccount} account
 * @param {Journal} journal
 * @param {RegistrationRequest} request
 */
async function sentRegistration(client, account, journal, request) {
  const prepared = await preparedRegistration(client, account, journal, request);
  const signed = await account.signed(prepared);
  await journal.write({ operationHash: signed.hash });
  await account.send(signed);
  request.onProgress?.("sent to the chain");
  return signed.hash;
}

/**
 * Prepares the operation that registers. Only the sponsor's response shows whether a commitment must be posted first.
 *
 * @param {Client} client
 * @param {SmartAccount} account
 * @param {Journal} journal
 * @param {RegistrationRequest} request
 */
async function preparedRegistration(client, account, journal, request) {
  const callData = await callOf(client, account, journal, "register");
  let after = /** @type {number | null} */ (null); // wait for the block after the commitment's
  for (let left = CLAIM_ATTEMPTS; ; left -= 1) {
    try {
      return await account.prepared(callData);
    } catch (error) {
      const lack = lackOf(error, journal.row.channel);
      if (!lack || left === 1) throw error;
      after =
        after === null && lack !== "block"
          ? await commit(client, account, journal, request, lack === "expired")
          : await account.nextBlock(after, BLOCK_WITHIN_MS);
    }
  }
}

/**
 * Returns what is missing from a claim that the registry refused (docs/contracts.md, "Claims").
 *
 * @param {unknown} error
 * @param {string} channel
 * @returns {"commitment" | "block" | "expired" | null}
 */
function lackOf(error, channel) {
  if (channel !== "handle" || !(error instanceof OperationFailed) || isStale(error)) return null;
  if (error instanceof AccountNotFunded || error instanceof GasTooDear) return null;
  const data = revertOf(error);
  // A revert without a reason most likely means that the commitment is missing.
  if (data === null) return /revert/i.test(error.message) ? "commitment" : null;
  if (data.includes(TOO_NEW)) return "block";
  if (data.includes(EXPIRED)) return "expired";
  return data.includes(NOT_COMMITTED) ? "commitment" : null;
}

/**
 * @param {Client} client
 * @param {SmartAccount} account
 * @param {Journal} journal
 * @param {RegistrationRequest} request
 * @param {boolean} anew
 * @returns {Promise<number>} the number of the block that contains it
 */
async function commit(client, account, journal, { onProgress }, anew) {
  const before = journal.row.commitmentOperation;
  const arrival = !anew && before ? await arrived(account, before) : null;
  if (arrival) return arrival.blockNumber;
  const callData = await callOf(client, account, journal, "commit");
  const signed = await account.signed(await account.prepared(callData));
  await journal.write({ commitmentOperation: signed.hash });
  await account.send(signed);
  onProgress?.("commitment sent");
  const { blockNumber } = await account.wait(signed.hash);
  onProgress?.("committed");
  return blockNumber;
}

/**
 * @param {Client} client
 * @param {SmartAccount} account
 * @param {Journal} journal
 * @param {"commit" | "register"} step
 */
async function callOf(client, account, { row }, step) {
  const { didRegistry, entryPoint, appFactory } = account.contracts;
  const where = { registry_addr: didRegistry, entry_point: entryPoint, factory: appFactory };
  const alias = row.channel === "handle" ? row.identifier : "";
  const made = await client.vault.createRegistration({ ...where, sender: account.address, alias, step });
  return made.call_data;
}

/**
 * @param {SmartAccount} account
 * @param {Journal} journal
 * @param {string} hash
 * @param {RegistrationRequest} request
 */
async function noted(account, journal, hash, { onProgress }) {
  const { transactionHash, blockNumber } = await account.wait(hash);
  await journal.write({ txHash: transactionHash, blockNumber, smartAccount: account.address });
  onProgress?.("on the chain");
}

/**
 * Returns the receipt of an interrupted attempt's operation, or null if it failed or was not mined.
 *
 * @param {SmartAccount} account
 * @param {string} hash
 */
async function arrived(account, hash) {
  try {
    return await account.wait(hash, RECEIPT_AGAIN_MS);
  } catch (error) {
    if (error instanceof OperationFailed) return null;
    throw error;
  }
}
