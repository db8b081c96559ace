/** Gas that the account pays itself, where no sponsor does. */

import { NetworkError } from "../errors.js";
import { AccountNotFunded, OperationFailed } from "./errors.js";

/** 0.01 of the chain's coin, in wei: the most that an account pays itself unless it is told otherwise. */
const MAX_OWN_COST_WEI = 10n ** 16n;

/**
 * @typedef {object} GasPolicy who pays for operations, and how much at most
 * @property {boolean} [sponsored] false: the account pays without asking a sponsor
 * @property {bigint} [maxOwnCostWei] 0.01 of the chain's coin by default; 0n for nothing
 * @property {string} [rpcUrl] the chain's JSON-RPC, for the price of gas; by default what the service's status shows.
 *   The page's Content-Security-Policy has to allow it
 *
 * @typedef {import("../generated/types.js").UserOp} UserOp
 */

/**
 * The operation with limits and fees that the account can pay.
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
  const limit = account.policy.maxOwnCostWei ?? MAX_OWN_COST_WEI;
  if (limit === 0n) throw new OperationFailed(why);
  const fees = await feesOfChain(account.policy.rpcUrl ?? (await client.status()).rpc);
  const estimated = await account.bundler.estimated({ ...operation, ...fees });
  const cost = greatestCost(estimated);
  if (cost > limit) throw new OperationFailed(`${why}; and it may cost ${cost} wei, more than the account may pay itself`);
  const { balance } = await client.balance({ account: account.address, token: "ETH", chainId: String(account.contracts.chainId) });
  if (BigInt(balance) < cost) {
    const message = `${why}; and the account ${account.address} has ${balance} of the ${cost} wei that it may cost`;
    throw new AccountNotFunded(message, { address: account.address, balance: BigInt(balance), needed: cost });
  }
  return estimated;
}

/**
 * What the entry point may take from the account for an operation without a paymaster (ERC-4337).
 *
 * @param {UserOp} operation
 * @returns {bigint} wei
 */
export function greatestCost({ callGasLimit, verificationGasLimit, preVerificationGas, maxFeePerGas }) {
  return (BigInt(callGasLimit) + BigInt(verificationGasLimit) + BigInt(preVerificationGas)) * BigInt(maxFeePerGas);
}

/**
 * Twice the newest block's base fee, and the suggested tip with a quarter more (EIP-1559).
 *
 * @param {string} url
 */
async function feesOfChain(url) {
  if (!url) throw new NetworkError("the price of gas is not known: name the chain's JSON-RPC (gas.rpcUrl)");
  const ask = async (/** @type {string} */ method, /** @type {unknown[]} */ params = []) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    return (await response.json()).result;
  };
  try {
    const [block, price] = await Promise.all([ask("eth_getBlockByNumber", ["latest", false]), ask("eth_gasPrice")]);
    const base = BigInt(block.baseFeePerGas);
    const tip = BigInt(price) > base ? ((BigInt(price) - base) * 5n) / 4n : 1n;
    return { maxFeePerGas: `0x${(2n * base + tip).toString(16)}`, maxPriorityFeePerGas: `0x${tip.toString(16)}` };
  } catch (cause) {
    throw new NetworkError("the chain's JSON-RPC does not tell the price of gas", { cause });
  }
}
