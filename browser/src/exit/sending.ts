/** Sends a planned exit, and waits until the node has its transaction. */

import type { Bundler } from "../chain/bundler.ts";
import { OperationFailed } from "../chain/errors.ts";
import { NetworkError } from "../errors.ts";
import { bytes, callData, handleOps, hash } from "./abi.ts";
import type { MinedReceipt, Node } from "./node.ts";
import { type FirstOwner, type Keys, type Plan, signed } from "./plan.ts";
import type { Standing } from "./standing.ts";
import { hashOf, signedTransaction } from "./transaction.ts";

const EVENT = `0x${hash("UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)")}`;

/** OP Stack: says what a transaction's data costs; other chains have no contract there. */
const ROLLUP_FEES = "0x420000000000000000000000000000000000000F";

/** `succeeded`: whether everything was moved */
export type Sent = { transaction: string; succeeded: boolean };

/** Sends the operation in an ordinary transaction of the payer's. The node tries it first. */
export async function sendOrdinary(node: Node, keys: Keys, standing: Standing, plan: Plan): Promise<Sent> {
  const payer = keys.vault.payer();
  const { operation, hash: operationHash } = await signed(keys, standing, plan.operation);
  const { gas, tip, maxFee } = plan.transaction as NonNullable<Plan["transaction"]>;
  const call = { from: payer.address, to: standing.entryPoint, data: handleOps(operation, payer.address) };
  await node.quantity("eth_estimateGas", [call]);
  const nonce = await node.quantity("eth_getTransactionCount", [payer.address, "pending"]);
  const raw = signedTransaction({ chainId: standing.chainId, nonce, tip, maxFee, gas, ...call }, payer.sign);
  return done(await sent(node, raw), operationHash, standing);
}

export async function sendBundled(
  node: Node,
  bundler: Bundler,
  keys: Keys,
  standing: Standing,
  plan: Plan,
): Promise<Sent> {
  const { operation, hash: operationHash } = await signed(keys, standing, plan.operation);
  await bundler.send(operation, operationHash);
  const { transactionHash } = await bundler.wait(operationHash);
  return done(await node.mined(transactionHash), operationHash, standing);
}

/**
 * Sends what the payer has left, less the fee.
 *
 * @returns the wei sent; 0: the fee would take everything
 * @throws {OperationFailed} the receiver, a contract, takes no coins
 */
export async function sendRest(
  node: Node,
  vault: FirstOwner,
  { to, ...how }: { chainId: number; to: string; tip: bigint; maxFee: bigint },
): Promise<bigint> {
  const { address, sign } = vault.payer();
  const call = { from: address, to, value: "0x0" };
  const gas = await node.quantity("eth_estimateGas", [call]);
  const most = (await node.quantity("eth_getBalance", [address, "latest"])) - gas * how.maxFee;
  if (most <= 0n) return 0n;
  const nonce = await node.quantity("eth_getTransactionCount", [address, "pending"]);
  const raw = (value: bigint) => signedTransaction({ ...how, nonce, gas, to, value }, sign);
  // The fee for data, which a rollup demands above the gas, may rise until the transaction arrives.
  const value = most - 2n * ((await node.word(ROLLUP_FEES, callData("getL1Fee(bytes)", bytes(raw(most))))) ?? 0n);
  if (value <= 0n) return 0n;
  const { status } = await sent(node, raw(value));
  if (status !== "0x1") throw new OperationFailed("the receiver refused it");
  return value;
}

async function sent(node: Node, raw: string) {
  const hash = await node.call<string>("eth_sendRawTransaction", [raw]);
  if (hash !== hashOf(raw)) throw new NetworkError("the node names another transaction than was sent");
  return node.mined(hash);
}

/** Reads what the entry point says; any contract can write an event like its. */
function done({ transactionHash, logs }: MinedReceipt, operationHash: string, { entryPoint }: Standing): Sent {
  const own = logs.filter(({ address }) => address.toLowerCase() === entryPoint.toLowerCase());
  const found = own.find(({ topics }) => topics[0] === EVENT && topics[1] === operationHash);
  const succeeded = found !== undefined && BigInt(`0x${found.data.slice(66, 130)}`) === 1n;
  return { transaction: transactionHash, succeeded };
}
