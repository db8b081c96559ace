/** Payments from the vault's smart account. */

import "../core.js";
import { isAddress, paymentCall, paymentOf } from "../chain/calls.js";
import { AccountNotFunded, GasTooDear, OperationFailed, SecondKeyMissing } from "../chain/errors.js";
import { checksumAddress } from "../chain/names.js";
import { NATIVE } from "../chain/native.js";
import { checkPaid } from "../chain/own_gas.js";
import { spend, spentBy } from "../chain/permissions.js";
import { SmartAccount } from "./account.js";
import { authorise } from "./budget.js";
import { operationPage } from "./contracts.js";
import { checkElsewhere, payeeOf } from "./payee.js";

/**
 * @import {Client} from "../client.js"
 * @import {PaymentParams, PaymentResult, UserOp} from "../generated/types.js"
 */

const AMOUNT = /^[0-9]{1,78}$/;
const MOST = 2n ** 256n - 1n;
/**
 * @typedef {"prepared" | "signed" | "sent" | "confirmed"} PaymentStep
 *
 * @typedef {object} PayOptions
 * @property {(step: PaymentStep, detail: {userOpHash?: string, operation?: UserOp}) => Promise<void> | void} [onProgress]
 *   "signed" is awaited, so that the hash can be stored before the operation is sent
 * @property {(operation: UserOp) => Promise<void> | void} [approve] called with the
 *   operation before it is signed; if it throws, the payment ends and nothing is signed
 */

/**
 * @param {Client} client @param {PaymentParams} params @param {PayOptions} options @returns {Promise<PaymentResult>}
 */
export async function pay(client, params, { onProgress, approve }) {
  const amount = checked(params);
  const account = await (await SmartAccount.ofClient(client)).on(params.chainId);
  const payee = await payeeOf(client, params.to); // DIDs are on the main chain
  if (account.elsewhere) await checkElsewhere(client, payee, account.elsewhere.chainId);
  const token = params.token === NATIVE ? NATIVE : await checksumAddress(client.vault, params.token);
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
 * @param {Client} client @param {SmartAccount} account @param {import("../chain/calls.js").Payment} payment
 * @throws {AccountNotFunded} the account has too little for the amount, or for the fee that no sponsor pays
 * @throws {OperationFailed}
 */
export async function preparedPayment(client, account, payment) {
  const { by, callData } = await payerOf(client, account, payment);
  return preparedBy(by, callData, payment);
}

/**
 * Returns what makes the payment: where two owners must sign and a permission of the vault's key covers it, the account
 * as the permission's spender.
 * @param {Client} client @param {SmartAccount} account @param {import("../chain/calls.js").Payment} payment
 */
async function payerOf(client, account, payment) {
  const { granted } = client.secondKey ? await account.way(payment) : {};
  if (!granted) return { by: account, callData: paymentCall(payment) };
  const spender = await SmartAccount.ofSpender(client, account.address, granted.id);
  const by = await spender.on(account.contracts.chainId);
  return { by, callData: spend(account.address, granted.permission, payment.to, payment.amount).data };
}

/** @param {SmartAccount} account @param {string} callData @param {import("../chain/calls.js").Payment} payment */
async function preparedBy(account, callData, payment) {
  try {
    return await account.prepared(callData);
  } catch (error) {
    const isSettled = [AccountNotFunded, GasTooDear, SecondKeyMissing].some((kind) => error instanceof kind);
    if (error instanceof OperationFailed && !isSettled) await checkPaid(account, payment, error);
    throw error;
  }
}

/**
 * Checks that the parameters are a payment, and returns the amount.
 * @param {PaymentParams} params @returns {bigint} @throws {TypeError}
 */
function checked({ amount, token }) {
  if (!AMOUNT.test(amount) || BigInt(amount) === 0n || BigInt(amount) > MOST) {
    throw new TypeError("amount: a positive whole number in the token's smallest unit");
  }
  if (token !== NATIVE && !isAddress(token)) throw new TypeError('token: an ERC-20 address, or "native"');
  return BigInt(amount);
}

/**
 * Throws unless the bytes about to be signed encode the requested payment.
 * @param {string} callData @param {import("../chain/calls.js").Payment} wanted
 */
function checkBytes(callData, wanted) {
  const found = paymentOf(callData) ?? spentBy(callData);
  const same = (/** @type {string} */ one, /** @type {string} */ other) => one.toLowerCase() === other.toLowerCase();
  if (found && same(found.to, wanted.to) && same(found.token, wanted.token) && found.amount === wanted.amount) return;
  throw new OperationFailed("the operation's bytes are not the payment that was asked for: nothing was signed");
}
