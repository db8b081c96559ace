/** Gas that the account pays for itself when no sponsor does. */

import { NetworkError, insteadOf } from "../errors.ts";
import type { SmartAccount } from "../flows/account.ts";
import type { UserOp } from "../generated/types.ts";
import type { Bundler } from "./bundler.ts";
import { hex } from "./abi.ts";
import { ether } from "./amounts.ts";
import { balanceOf, type Payment, paymentCall, paymentOf } from "./calls.ts";
import { AccountNotFunded, GasTooDear, OperationFailed, lacksMoney, revertOf } from "./errors.ts";
import { feesAbove, greatestCost, higherFees } from "./fees.ts";
import { RpcError } from "../http/json_rpc.ts";
import { NATIVE } from "./native.ts";
import { words } from "./owners.ts";
import { ask, quantity } from "./rpc.ts";
import type { Foreign } from "../http/http.ts";

/** The most that an account pays for gas by default: 0.01 of the chain's coin, in wei. */
const MAX_OWN_COST_WEI = 10n ** 16n;
/** Of each fee in an operation's packed form. */
const FEE_BITS = 128n;

/** who pays for operations, and how much at most */
export interface GasPolicy {
  /** false: the account pays without asking a sponsor */ sponsored?: boolean;
  /** 0.01 of the chain's coin by default; with 0n the account pays nothing itself */ maxOwnCostWei?: bigint;
  /**
   * the chain's JSON-RPC endpoint, for the gas price; by default the one in the service's status. The page's
   * Content-Security-Policy must allow it
   */
  rpcUrl?: string;
}

/**
 * The error that no endpoint of an account's chain can be asked. The application names the main chain's endpoint, so
 * that it cannot help on another chain.
 * @param why what is unknown
 * @param remedy what the application can do on the main chain
 */
export function noEndpoint({ elsewhere }: { elsewhere: object | null }, why: string, remedy: string) {
  const ofService = "the service must name one that can be called, because yours is for its main chain";
  return new NetworkError(`${why}: ${elsewhere ? ofService : remedy}`);
}

/**
 * Returns the operation with the chain's fees, or its own higher ones. Fees that cannot be read are left to a sponsor.
 * @param url the chain's endpoint, "" if none exists
 * @throws {NetworkError} the endpoint that the application names does not answer
 */
export async function withFees(
  url: string,
  { contracts, policy, elsewhere }: SmartAccount,
  operation: UserOp,
): Promise<UserOp> {
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
 * @param url the chain's endpoint
 * @param operation with fees
 * @param why no sponsor pays
 * @throws {GasTooDear}
 * @throws {AccountNotFunded}
 */
export async function paidByAccount(
  url: string,
  account: SmartAccount,
  operation: UserOp,
  why: string,
): Promise<UserOp> {
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
 * Checks that the account can pay for gas and for the coins that it sends. What it deposited with the entry point
 * counts.
 * @throws {AccountNotFunded}
 */
async function checkFunds(
  url: string,
  { address, contracts }: SmartAccount,
  operation: UserOp,
  coins: bigint,
  why: string,
) {
  const held = (token: string) =>
    balanceIn(url, address, token).catch((cause) => {
      throw new NetworkError("the chain's JSON-RPC endpoint does not return the account's balance", { cause });
    });
  const [balance, deposit] = [await held(NATIVE), await held(contracts.entryPoint)];
  const cost = greatestCost(operation);
  const needed = coins + (cost > deposit ? cost - deposit : 0n);
  if (balance >= needed) return;
  throw new AccountNotFunded(
    `${plain(why)}; and the account ${address} has ${ether(balance)} of the ${ether(needed)} that the operation needs: ` +
      "send the account the rest, or name a paymaster",
    { address, balance, needed },
  );
}

/**
 * Returns the operation with the bundler's gas limits, even if the bundler first refuses because the balance is too low
 * (ERC-4337: AA21, AA51).
 */
async function estimatedFor(bundler: Bundler, operation: UserOp): Promise<UserOp> {
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
 * @throws {AccountNotFunded}
 */
export async function checkPaid(account: SmartAccount, { amount, token }: Payment, cause: Error) {
  const { address } = account;
  const url = await account.endpoint();
  const balance = url ? await balanceIn(url, address, token).catch(() => amount) : amount;
  if (balance >= amount) return;
  const words = `the account ${address} has ${balance} of the ${amount} that are to be paid (${plain(cause.message)})`;
  throw new AccountNotFunded(words, { address, balance, needed: amount, token }, { cause });
}

/**
 * Returns an account's balance of the coin, of a token, or with the entry point.
 * @param token "native", or a contract's address
 */
async function balanceIn(url: string, account: string, token: string) {
  if (token === NATIVE) return quantity(await ask(url, "eth_getBalance", [account, "latest"]));
  return (await words(url, token, balanceOf(account).slice(2), 1))[0];
}

/** Shortens the contract's encoded error, which says no more than what else is told. */
function plain(message: string) {
  return message.replace(/0x[0-9a-f]{41,}/gi, "0x…");
}

async function feesOfChain(url: string, chainId: number) {
  const [found, block, suggested] = await Promise.all([
    ask(url, "eth_chainId"),
    ask(url, "eth_getBlockByNumber", ["latest", false]),
    ask(url, "eth_maxPriorityFeePerGas").catch(insteadOf(RpcError, undefined)), // the node refuses to answer
  ]);
  if (quantity(found) !== BigInt(chainId))
    throw new NetworkError(`the endpoint serves chain ${Number(found)}, not ${chainId}`);
  const base = quantity((block as Foreign)?.baseFeePerGas);
  const least = suggested === undefined ? quantity(await ask(url, "eth_gasPrice")) - base : quantity(suggested);
  const { tip, maxFee } = feesAbove(base, least);
  if (maxFee >> FEE_BITS) throw new NetworkError("the gas price is more than an operation can offer");
  return { maxFeePerGas: hex(maxFee), maxPriorityFeePerGas: hex(tip) };
}
