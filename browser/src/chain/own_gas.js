/** Gas that the account pays for itself when no sponsor does. */

import { NetworkError } from "../errors.js";
import { balanceOf, paymentCall, paymentOf } from "./calls.js";
import { AccountNotFunded, OperationFailed } from "./errors.js";
import { greatestCost, higherFees } from "./fees.js";
import { NATIVE } from "./native.js";
import { ask, rpcOf } from "./rpc.js";

/** The most that an account pays for gas by default: 0.01 of the chain's coin, in wei. */
const MAX_OWN_COST_WEI = 10n ** 16n;

/**
 * @typedef {object} GasPolicy who pays for operations, and how much at most
 * @property {boolean} [sponsored] false: the account pays without asking a sponsor
 * @property {bigint} [maxOwnCostWei] 0.01 of the chain's coin by default; with 0n the account pays nothing itself
 * @property {string} [rpcUrl] the chain's JSON-RPC endpoint, for the gas price; by default the one in the service's status.
 *   The page's Content-Security-Policy must allow it
 *
 * @typedef {import("../generated/types.js").UserOp} UserOp
 */

/**
 * Returns the operation with its gas limits and the chain's fees, or its own higher ones, after checking that the account can pay for it.
 *
 * @param {import("../http/service.js").ServiceClient} client
 * @param {import("../flows/account.js").SmartAccount} account
 * @param {UserOp} operation
 * @param {string} why no sponsor pays
 * @returns {Promise<UserOp>}
 * @throws {OperationFailed} it would cost more than allowed
 * @throws {AccountNotFunded}
 */
export async function paidByAccount(client, account, operation, why) {
  const { policy, bundler } = account;
  const limit = policy.maxOwnCostWei ?? MAX_OWN_COST_WEI;
  if (limit === 0n) throw new OperationFailed(why);
  const priced = { ...operation, ...higherFees(await feesOfChain(await rpcOf(client, policy)), operation) };
  const payment = paymentOf(operation.callData);
  const coins = payment?.token === NATIVE ? payment.amount : 0n;
  const checkFunds = async (/** @type {UserOp} */ estimated) => {
    const cost = greatestCost(estimated);
    if (cost > limit)
      throw new OperationFailed(`${why}; and it may cost ${cost} wei, more than the account may pay itself`);
    const { balance } = await client.balance({
      account: account.address,
      token: "ETH",
      chainId: String(account.contracts.chainId),
    });
    notLess(account, BigInt(balance), { needed: cost + coins, token: NATIVE }, why);
    return estimated;
  };
  try {
    return await checkFunds(await estimatedFor(bundler, priced));
  } catch (error) {
    // Transferring more coins than the account has reverts without a reason, so estimate a transfer of zero coins.
    if (payment && coins && !(error instanceof AccountNotFunded)) {
      await checkFunds(await estimatedFor(bundler, { ...priced, callData: paymentCall({ ...payment, amount: 0n }) }));
    }
    throw error;
  }
}

/**
 * Returns the operation with the bundler's gas limits, even if the bundler first refuses because the balance is too low
 * (ERC-4337: AA21, AA51).
 *
 * @param {import("./bundler.js").Bundler} bundler
 * @param {UserOp} operation
 * @returns {Promise<UserOp>}
 */
async function estimatedFor(bundler, operation) {
  try {
    return await bundler.estimated(operation);
  } catch (error) {
    if (!(error instanceof OperationFailed && /AA21|AA51/.test(error.message))) throw error;
    const { maxFeePerGas, maxPriorityFeePerGas } = operation;
    const free = await bundler.estimated({ ...operation, maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0" });
    return { ...free, maxFeePerGas, maxPriorityFeePerGas };
  }
}

/**
 * Throws AccountNotFunded if the payment failed because the account's balance is less than the amount.
 *
 * @param {import("../http/service.js").ServiceClient} client
 * @param {import("../flows/account.js").SmartAccount} account
 * @param {import("./calls.js").Payment} payment
 * @param {Error} cause
 * @throws {AccountNotFunded}
 */
export async function checkPaid(client, account, { amount, token }, cause) {
  const held =
    token === NATIVE
      ? ["eth_getBalance", account.address]
      : ["eth_call", { to: token, data: balanceOf(account.address) }];
  const balance = await rpcOf(client, account.policy)
    .then((url) => ask(url, /** @type {string} */ (held[0]), [held[1], "latest"]))
    .then(BigInt)
    .catch(() => amount);
  notLess(account, balance, { needed: amount, token }, cause.message);
}

/**
 * @param {import("../flows/account.js").SmartAccount} account
 * @param {bigint} balance
 * @param {{needed: bigint, token: string}} asked
 * @param {string} why
 */
function notLess({ address }, balance, { needed, token }, why) {
  if (balance >= needed) return;
  const plain = why.replace(/0x[0-9a-f]{41,}/gi, "0x…"); // the contract's encoded error says no more than what follows
  throw new AccountNotFunded(`${plain}; and the account ${address} has ${balance} of the ${needed} needed`, {
    address,
    balance,
    needed,
    token,
  });
}

/**
 * Returns the fees (EIP-1559): the tip is the suggested one plus a quarter; the maximum is the tip plus twice the
 * newest block's base fee.
 *
 * @param {string} url
 */
async function feesOfChain(url) {
  if (!url) throw new NetworkError("the gas price is not known: configure the chain's JSON-RPC endpoint (gas.rpcUrl)");
  try {
    const [block, price] = await Promise.all([
      ask(url, "eth_getBlockByNumber", ["latest", false]),
      ask(url, "eth_gasPrice"),
    ]);
    const base = BigInt(block.baseFeePerGas);
    const tip = BigInt(price) > base ? ((BigInt(price) - base) * 5n) / 4n : 1n;
    return { maxFeePerGas: `0x${(2n * base + tip).toString(16)}`, maxPriorityFeePerGas: `0x${tip.toString(16)}` };
  } catch (cause) {
    throw new NetworkError("the chain's JSON-RPC endpoint does not return the gas price", { cause });
  }
}
