/** Gas that the account pays for itself when no sponsor does. */

import { NetworkError, insteadOf } from "../errors.js";
import { balanceOf, paymentCall, paymentOf } from "./calls.js";
import { AccountNotFunded, GasTooDear, OperationFailed, lacksMoney, revertOf } from "./errors.js";
import { ether, greatestCost, higherFees } from "./fees.js";
import { RpcError } from "../http/json_rpc.js";
import { NATIVE } from "./native.js";
import { words } from "./owners.js";
import { ask, quantity } from "./rpc.js";

/** The most that an account pays for gas by default: 0.01 of the chain's coin, in wei. */
const MAX_OWN_COST_WEI = 10n ** 16n;
/** Of each fee in an operation's packed form. */
const FEE_BITS = 128n;

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
 * The error that no endpoint of an account's chain can be asked. The application names the main chain's endpoint, so that it
 * cannot help on another chain.
 * @param {{elsewhere: object | null}} account @param {string} why what is unknown
 * @param {string} remedy what the application can do on the main chain
 */
export function noEndpoint({ elsewhere }, why, remedy) {
  const ofService = "the service must name one that can be called, because yours is for its main chain";
  return new NetworkError(`${why}: ${elsewhere ? ofService : remedy}`);
}

/**
 * Returns the operation with the chain's fees, or its own higher ones. Fees that cannot be read are left to a sponsor.
 * @param {string} url the chain's endpoint, "" if none exists
 * @param {import("../flows/account.js").SmartAccount} account @param {UserOp} operation
 * @returns {Promise<UserOp>}
 * @throws {NetworkError} the endpoint that the application names does not answer
 */
export async function withFees(url, { contracts, policy, elsewhere }, operation) {
  if (!url) return operation;
  try {
    return { ...operation, ...higherFees(await feesOfChain(url, contracts.chainId), operation) };
  } catch (cause) {
    if (elsewhere || policy.rpcUrl === undefined) return operation;
    throw new NetworkError("the chain's JSON-RPC endpoint does not return the gas price", { cause });
  }
}

/**
 * Returns the operation with its gas limits, after checking that the account can pay for it.
 * @param {string} url the chain's endpoint @param {import("../flows/account.js").SmartAccount} account
 * @param {UserOp} operation with fees @param {string} why no sponsor pays
 * @returns {Promise<UserOp>}
 * @throws {GasTooDear}
 * @throws {AccountNotFunded}
 */
export async function paidByAccount(url, account, operation, why) {
  if (BigInt(operation.maxFeePerGas) === 0n)
    throw noEndpoint(
      account,
      `${why}; and the price of gas is not known`,
      "name the chain's JSON-RPC endpoint in the gas policy",
    );
  const payment = paymentOf(operation.callData);
  const coins = payment?.token === NATIVE ? payment.amount : 0n;
  const estimated = await estimatedFor(account.bundler, operation).catch(async (error) => {
    // Transferring more coins than the account has reverts without a reason, so estimate a transfer of zero coins.
    if (payment && coins && error instanceof OperationFailed && !revertOf(error)) {
      const callData = paymentCall({ ...payment, amount: 0n });
      await checkFunds(url, account, await estimatedFor(account.bundler, { ...operation, callData }), coins, why);
    }
    throw error;
  });
  const [cost, limit] = [greatestCost(estimated), account.policy.maxOwnCostWei ?? MAX_OWN_COST_WEI];
  if (cost > limit)
    throw new GasTooDear(
      `${why}; and the operation may cost ${ether(cost)}, more than the account may pay itself (${ether(limit)})`,
    );
  await checkFunds(url, account, estimated, coins, why);
  return estimated;
}

/**
 * Checks that the account can pay for gas and for the coins that it sends. What it deposited with the entry point counts.
 * @param {string} url @param {import("../flows/account.js").SmartAccount} account @param {UserOp} operation
 * @param {bigint} coins @param {string} why
 * @throws {AccountNotFunded}
 */
async function checkFunds(url, { address, contracts }, operation, coins, why) {
  const held = (/** @type {string} */ token) =>
    balanceIn(url, address, token).catch((cause) => {
      throw new NetworkError("the chain's JSON-RPC endpoint does not return the account's balance", { cause });
    });
  const [balance, deposit] = [await held(NATIVE), await held(contracts.entryPoint)];
  const cost = greatestCost(operation);
  const needed = coins + (cost > deposit ? cost - deposit : 0n);
  if (balance >= needed) return;
  throw new AccountNotFunded(
    `${plain(why)}; and the account ${address} has ${ether(balance)} of the ${ether(needed)} that the operation needs: ` +
      "send it there, or name a paymaster",
    { address, balance, needed },
  );
}

/**
 * Returns the operation with the bundler's gas limits, even if the bundler first refuses because the balance is too low
 * (ERC-4337: AA21, AA51).
 * @param {import("./bundler.js").Bundler} bundler @param {UserOp} operation
 * @returns {Promise<UserOp>}
 */
async function estimatedFor(bundler, operation) {
  try {
    return await bundler.estimated(operation);
  } catch (error) {
    if (!lacksMoney(error)) throw error;
    const { maxFeePerGas, maxPriorityFeePerGas } = operation;
    const free = await bundler.estimated({ ...operation, maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0" });
    return { ...free, maxFeePerGas, maxPriorityFeePerGas };
  }
}

/**
 * Throws AccountNotFunded if the payment failed because the account's balance is less than the amount.
 * @param {import("../flows/account.js").SmartAccount} account @param {import("./calls.js").Payment} payment
 * @param {Error} cause
 * @throws {AccountNotFunded}
 */
export async function checkPaid(account, { amount, token }, cause) {
  const { address } = account;
  const url = await account.endpoint();
  const balance = url ? await balanceIn(url, address, token).catch(() => amount) : amount;
  if (balance >= amount) return;
  const words = `the account ${address} has ${balance} of the ${amount} that are to be paid (${plain(cause.message)})`;
  throw new AccountNotFunded(words, { address, balance, needed: amount, token }, { cause });
}

/**
 * Returns an account's balance of the coin, of a token, or with the entry point.
 * @param {string} url @param {string} account @param {string} token "native", or a contract's address
 */
async function balanceIn(url, account, token) {
  if (token === NATIVE) return quantity(await ask(url, "eth_getBalance", [account, "latest"]));
  return (await words(url, token, balanceOf(account).slice(2), 1))[0];
}

/** Shortens the contract's encoded error, which says no more than what else is told. @param {string} message */
function plain(message) {
  return message.replace(/0x[0-9a-f]{41,}/gi, "0x…");
}

/**
 * Returns the fees (EIP-1559): the tip is the suggested one plus a quarter, because bundlers refuse operations whose tip
 * is slightly below what they require; the maximum is the tip plus twice the newest block's base fee.
 * @param {string} url @param {number} chainId
 */
async function feesOfChain(url, chainId) {
  const [found, block, suggested] = await Promise.all([
    ask(url, "eth_chainId"),
    ask(url, "eth_getBlockByNumber", ["latest", false]),
    ask(url, "eth_maxPriorityFeePerGas").catch(insteadOf(RpcError, undefined)), // the node refuses to answer
  ]);
  if (quantity(found) !== BigInt(chainId))
    throw new NetworkError(`the endpoint serves chain ${Number(found)}, not ${chainId}`);
  const base = quantity(block?.baseFeePerGas);
  const least = suggested === undefined ? quantity(await ask(url, "eth_gasPrice")) - base : quantity(suggested);
  const tip = least > 1n ? least + least / 4n : 1n;
  const fee = 2n * base + tip;
  if (fee >> FEE_BITS) throw new NetworkError("the gas price is more than an operation can offer");
  return { maxFeePerGas: `0x${fee.toString(16)}`, maxPriorityFeePerGas: `0x${tip.toString(16)}` };
}
