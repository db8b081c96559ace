/** Payments from the vault's smart account, and how much was spent under each delegation, in the vault's own database. */

import "../core.ts";
import { isAddress, type Payment, paymentCall, paymentOf } from "../chain/calls.ts";
import { AccountNotFunded, GasTooDear, OperationFailed, PaymentRefused, SecondKeyMissing } from "../chain/errors.ts";
import { checkedAddress } from "../chain/addresses.ts";
import { NATIVE } from "../chain/native.ts";
import { checkPaid } from "../chain/own_gas.ts";
import { spend, spentBy } from "../chain/permissions.ts";
import type { Client } from "../client.ts";
import { BUDGET_ATTEMPTS } from "../generated/operation_retries.ts";
import type { PaymentParams, PaymentResult, UcanClaims, UserOp } from "../generated/types.ts";
import { type VaultStore, withStore } from "../vault/store.ts";
import { SmartAccount } from "./account.ts";
import { operationPage } from "./contracts.ts";
import { checkElsewhere, payeeOf } from "./payee.ts";

const PAY_COMMAND = "/accounts/pay";
const AMOUNT = /^[0-9]{1,78}$/;
const MOST = 2n ** 256n - 1n;
export type PaymentStep = "prepared" | "signed" | "sent" | "confirmed";

export interface PayOptions {
  /** "signed" is awaited, so that the hash can be stored before the operation is sent */
  onProgress?: (step: PaymentStep, detail: { userOpHash?: string; operation?: UserOp }) => Promise<void> | void;
  /** called with the operation before it is signed; if it throws, the payment ends and nothing is signed */
  approve?: (operation: UserOp) => Promise<void> | void;
}

export async function pay(
  client: Client,
  params: PaymentParams,
  { onProgress, approve }: PayOptions,
): Promise<PaymentResult> {
  const amount = checked(params);
  const account = await (await SmartAccount.ofClient(client)).on(params.chainId);
  const payee = await payeeOf(client, params.to); // DIDs are on the main chain
  if (account.elsewhere) await checkElsewhere(client, payee, account.elsewhere.chainId);
  const token = params.token === NATIVE ? NATIVE : await checkedAddress(client.vault, params.token, "token");
  if (params.ucan) await authorise(client, params.ucan, { to: payee.address, amount, token, chainId: params.chainId });
  const payment = { to: payee.address, amount, token };
  const { by, callData } = await payerOf(client, account, payment);
  const operation = await preparedBy(by, callData, payment);
  checkBytes(operation.callData, payment);
  onProgress?.("prepared", { operation });
  await approve?.(operation);
  const signed = await by.signed(operation);
  await onProgress?.("signed", { userOpHash: signed.hash });
  await by.send(signed);
  onProgress?.("sent", { userOpHash: signed.hash });
  await by.wait(signed.hash);
  onProgress?.("confirmed", { userOpHash: signed.hash });
  const explorerUrl = await operationPage(client, params.chainId, signed.hash);
  // As documented, `txHash` equals `userOpHash`.
  return { txHash: signed.hash, userOpHash: signed.hash, chain: params.chainId, token: params.token, explorerUrl };
}

/**
 * Prepares the account's operation for a payment, so that only its signature is missing.
 * @throws {AccountNotFunded} the account has too little for the amount, or for the fee that no sponsor pays
 * @throws {OperationFailed}
 */
export async function preparedPayment(client: Client, account: SmartAccount, payment: Payment) {
  const { by, callData } = await payerOf(client, account, payment);
  return preparedBy(by, callData, payment);
}

/**
 * Returns what makes the payment: where two owners must sign and a permission of the vault's key covers it, the account
 * as the permission's spender.
 */
async function payerOf(client: Client, account: SmartAccount, payment: Payment) {
  const { granted } = client.secondKey ? await account.way(payment) : {};
  if (!granted) return { by: account, callData: paymentCall(payment) };
  const spender = await SmartAccount.ofSpender(client, account.address, granted.id);
  const by = await spender.on(account.contracts.chainId);
  return { by, callData: spend(account.address, granted.permission, payment.to, payment.amount).data };
}

async function preparedBy(account: SmartAccount, callData: string, payment: Payment) {
  try {
    return await account.prepared(callData);
  } catch (error) {
    const isSettled = [AccountNotFunded, GasTooDear, SecondKeyMissing].some((kind) => error instanceof kind);
    if (error instanceof OperationFailed && !error.earlier && !isSettled) await checkPaid(account, payment, error);
    throw error;
  }
}

/** Checks that the parameters are a payment, and returns the amount. @throws {TypeError} */
function checked({ amount, token }: PaymentParams): bigint {
  if (!AMOUNT.test(amount) || BigInt(amount) === 0n || BigInt(amount) > MOST)
    throw new TypeError("amount: a positive whole number in the token's smallest unit");
  if (token !== NATIVE && !isAddress(token)) throw new TypeError('token: an ERC-20 address, or "native"');
  return BigInt(amount);
}

/** Throws unless the bytes about to be signed encode the requested payment. */
function checkBytes(callData: string, wanted: Payment) {
  const found = paymentOf(callData) ?? spentBy(callData);
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  if (found && same(found.to, wanted.to) && same(found.token, wanted.token) && found.amount === wanted.amount) return;
  throw new OperationFailed("the operation's bytes are not the payment that was asked for: nothing was signed");
}

/** the arguments that policies are checked against */
type PaymentArguments = { to: string; amount: bigint; token: string; chainId: number };

/**
 * Counts a payment against every delegation in the UCAN's proof chain, if all of them allow the payment. A payment
 * is counted before it is sent, so a crash in between can waste budget but never exceed it.
 * @throws {PaymentRefused}
 */
async function authorise(client: Client, ucan: string, payment: PaymentArguments) {
  await withStore(async (store) => {
    for (let tries = 0; tries < BUDGET_ATTEMPTS; tries += 1) if (await charged(client, store, ucan, payment)) return;
    throw new PaymentRefused(
      "other payments under the same delegation were made at the same time; try again",
      "delegation",
    );
  }, client.vault.dbName);
}

/** @returns false if another payment was counted in between */
async function charged(client: Client, store: VaultStore, ucan: string, payment: PaymentArguments): Promise<boolean> {
  const { did = "" } = await client.vault.status();
  const claims = await verified(client, { token: ucan, subject: did });
  const once = claims.kind === "invocation" ? claims.cid : null;
  const cids = claims.path.filter((cid) => cid !== once);
  const before = await Promise.all(
    cids.map(async (cid) => BigInt((await store.note<bigint>(entry(cid, payment.token))) ?? 0)),
  );
  const totals = Object.fromEntries(cids.map((cid, at) => [cid, { total: before[at] + payment.amount }]));
  // An invocation's `total` was computed when the invocation was created. This value is not trusted, but must be
  // passed exactly as it was signed.
  const args = { ...payment, ...(once && claims.args?.total !== undefined && { total: claims.args.total }) };
  const demand = { subject: did, command: PAY_COMMAND, args, added_args: totals, ...(once && { audience: did }) };
  if (once && (await store.note(entry(once, "used"))))
    throw new PaymentRefused("the invocation has been used before", "delegation");
  await verified(client, { token: ucan, ...demand });
  const changes: Record<string, [unknown, unknown]> = {};
  cids.forEach((cid, at) => (changes[entry(cid, payment.token)] = [before[at] || null, before[at] + payment.amount]));
  if (once) changes[entry(once, "used")] = [null, true];
  return store.replaceNotes(changes);
}

/** Returns a token's claims after the enclave has verified the token and checked it against the vault's revocations. */
async function verified(client: Client, question: object): Promise<UcanClaims> {
  const answer = await client.vault.exec("resource:delegations action:verify", question);
  if (answer.success && answer.result) return answer.result;
  throw new PaymentRefused(
    `the delegation does not allow this payment (${answer.error})`,
    answer.error ?? "delegation",
  );
}

/** @param what a token's address, "native", or "used" */
function entry(cid: string, what: string) {
  return `spent:${cid}:${what.toLowerCase()}`;
}
