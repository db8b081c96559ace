/** Finds out from public facts, without opening a vault, what a payment costs and whether the account can afford it. */

import { decimalOf } from "../kit/money.js";
import { feeIn } from "../chain/fees.js";
import { didOfKey, textHash } from "../chain/names.js";
import { SmartAccount } from "../flows/account.js";
import { accountAddress } from "../flows/contracts.js";
import { preparedPayment } from "../flows/pay.js";
import { COIN, Refusal } from "./request.js";
import { amountText } from "./text.js";

/**
 * @typedef {import("../holdfast.js").Client} Client
 * @typedef {import("./request.js").Request} Request
 * @typedef {{sponsored: boolean, cost: bigint}} Fee `cost`: the most that the account may pay, in wei
 */

export { feeIn };

/** How many times to look for an account; a newly registered one may not be indexed yet. */
const TRIES = 4;
const PAUSE_MS = 1200;

/**
 * Returns a stored vault's account if it is registered on the chain.
 *
 * @param {Client} client
 * @param {string} did
 * @returns {Promise<import("../flows/account.js").AccountKey | null>}
 */
export async function publicAccount(client, did) {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const found = await indexed(client, did).catch(() => null);
    if (found) return found;
    if (tries < TRIES) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return null;
}

/**
 * @param {Client} client
 * @param {string} did
 */
async function indexed(client, did) {
  const { found, controller } = await client.indexerDid(await textHash(client.vault, did));
  if (!found || !controller) return null;
  const { pubKeyX, pubKeyY } = await client.accountState({ account: controller });
  if ((await didOfKey(client.vault, pubKeyX, pubKeyY)) !== did) return null;
  const key = { x: BigInt(pubKeyX), y: BigInt(pubKeyY) };
  return { ...key, address: await accountAddress(client, key) };
}

/**
 * Returns the payment's current fee, according to the sponsor and the bundler.
 *
 * @param {Client} client
 * @param {import("../flows/account.js").AccountKey} key
 * @param {Request} request
 * @param {string} payee address
 * @returns {Promise<Fee>}
 */
export async function feeOf(client, key, { amount, params }, payee) {
  const contracts = await client.contracts();
  const account = new SmartAccount(client, { contracts, key });
  return feeIn(await preparedPayment(client, account, { to: payee, amount, token: params.token }));
}

/**
 * Refuses a payment that the account cannot afford. Payments in a token that the service does not know are not checked.
 *
 * @param {Client} client
 * @param {string} address
 * @param {Request} request
 * @returns {Promise<bigint | null>} what the account has left afterwards, in the token's smallest unit; null if not known
 * @throws {Refusal}
 */
export async function checkBalance(client, address, { token, amount, params }) {
  if (!token) return null;
  const chainId = String(params.chainId);
  const { balance } = await client.balance({ account: address, token: token.symbol, chainId });
  if (BigInt(balance) >= amount) return BigInt(balance) - amount;
  const shown = (/** @type {bigint} */ value) => amountText(decimalOf(value, token.decimals), token);
  throw new Refusal("insufficient_balance", { have: shown(BigInt(balance)), need: shown(amount), account: address });
}

/**
 * @param {Fee} fee
 * @returns {string}
 */
export function costText({ cost }) {
  return amountText(decimalOf(cost, COIN.decimals), COIN);
}
