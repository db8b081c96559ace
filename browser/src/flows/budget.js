/** Records in the vault's own database how much was spent under each delegation and which invocations were used. */

import { PaymentRefused } from "../chain/errors.js";
import { BUDGET_ATTEMPTS } from "../generated/operation_retries.js";
import { withStore } from "../vault/store.js";

/** @import {Client} from "../client.js" */

const PAY_COMMAND = "/accounts/pay";

/**
 * @typedef {{to: string, amount: bigint, token: string, chainId: number}} PaymentArguments the arguments that policies are checked against
 */

/**
 * Counts a payment against every delegation in the UCAN's proof chain, if all of them allow the payment. A payment
 * is counted before it is sent, so a crash in between can waste budget but never exceed it.
 * @param {Client} client @param {string} ucan @param {PaymentArguments} payment @throws {PaymentRefused}
 */
export async function authorise(client, ucan, payment) {
  await withStore(async (store) => {
    for (let tries = 0; tries < BUDGET_ATTEMPTS; tries += 1) if (await charged(client, store, ucan, payment)) return;
    throw new PaymentRefused(
      "other payments under the same delegation were made at the same time; try again",
      "delegation",
    );
  }, client.vault.dbName);
}

/**
 * @param {Client} client @param {import("../vault/store.js").VaultStore} store @param {string} ucan
 * @param {PaymentArguments} payment
 * @returns {Promise<boolean>} false if another payment was counted in between
 */
async function charged(client, store, ucan, payment) {
  const { did = "" } = await client.vault.status();
  const claims = await verified(client, { token: ucan, subject: did });
  const once = claims.kind === "invocation" ? claims.cid : null;
  const cids = /** @type {string[]} */ (claims.path).filter((cid) => cid !== once);
  const before = await Promise.all(cids.map(async (cid) => BigInt((await store.note(entry(cid, payment.token))) ?? 0)));
  const totals = Object.fromEntries(cids.map((cid, at) => [cid, { total: before[at] + payment.amount }]));
  // An invocation's `total` was computed when the invocation was created. This value is not trusted, but must be
  // passed exactly as it was signed.
  const args = { ...payment, ...(once && claims.args?.total !== undefined && { total: claims.args.total }) };
  const demand = { subject: did, command: PAY_COMMAND, args, added_args: totals, ...(once && { audience: did }) };
  if (once && (await store.note(entry(once, "used"))))
    throw new PaymentRefused("the invocation has been used before", "delegation");
  await verified(client, { token: ucan, ...demand });
  /** @type {Record<string, [unknown, unknown]>} */
  const changes = {};
  cids.forEach((cid, at) => (changes[entry(cid, payment.token)] = [before[at] || null, before[at] + payment.amount]));
  if (once) changes[entry(once, "used")] = [null, true];
  return store.replaceNotes(changes);
}

/**
 * Returns a token's claims after the enclave has verified the token and checked it against the vault's revocations.
 * @param {Client} client @param {Record<string, any>} question @returns {Promise<any>}
 */
async function verified(client, question) {
  const answer = await client.vault.exec("resource:delegations action:verify", question);
  if (answer.success && answer.result) return answer.result;
  throw new PaymentRefused(
    `the delegation does not allow this payment (${answer.error})`,
    answer.error ?? "delegation",
  );
}

/** @param {string} cid @param {string} what a token's address, "native", or "used" */
function entry(cid, what) {
  return `spent:${cid}:${what.toLowerCase()}`;
}
