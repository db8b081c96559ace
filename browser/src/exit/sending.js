/** Sends a planned exit, and waits until the node has its transaction. */

import { NetworkError } from "../errors.js";
import { handleOps, hash } from "./abi.js";
import { signed } from "./plan.js";
import { hashOf, signedTransaction } from "./transaction.js";

const EVENT = `0x${hash("UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)")}`;

/**
 * @typedef {import("./plan.js").Plan} Plan
 * @typedef {import("./standing.js").Standing} Standing
 * @typedef {{transaction: string, succeeded: boolean}} Sent `succeeded`: whether everything was moved
 */

/**
 * Sends the operation in an ordinary transaction of the payer's. The node tries it first.
 *
 * @param {import("./node.js").Node} node
 * @param {import("./plan.js").Keys} keys
 * @param {Standing} standing
 * @param {Plan} plan
 * @returns {Promise<Sent>}
 */
export async function sendOrdinary(node, keys, standing, plan) {
  const payer = keys.vault.payer();
  const { operation, hash: operationHash } = await signed(keys, standing, plan.operation);
  const { gas, tip, maxFee } = /** @type {NonNullable<Plan["transaction"]>} */ (plan.transaction);
  const call = { from: payer.address, to: standing.entryPoint, data: handleOps(operation, payer.address) };
  await node.quantity("eth_estimateGas", [call]);
  const nonce = await node.quantity("eth_getTransactionCount", [payer.address, "pending"]);
  const raw = signedTransaction({ chainId: standing.chainId, nonce, tip, maxFee, gas, ...call }, payer.sign);
  return done(await sent(node, raw), operationHash);
}

/**
 * @param {import("./node.js").Node} node
 * @param {import("../chain/bundler.js").Bundler} bundler
 * @param {import("./plan.js").Keys} keys
 * @param {Standing} standing
 * @param {Plan} plan
 * @returns {Promise<Sent>}
 */
export async function sendBundled(node, bundler, keys, standing, plan) {
  const { operation, hash: operationHash } = await signed(keys, standing, plan.operation);
  await bundler.send(operation, operationHash);
  const { transactionHash } = await bundler.wait(operationHash);
  return done(await node.mined(transactionHash), operationHash);
}

/**
 * Sends what the payer has left, less the fee.
 *
 * @param {import("./node.js").Node} node
 * @param {import("./plan.js").FirstOwner} vault
 * @param {{chainId: number, to: string, tip: bigint, maxFee: bigint}} how
 * @returns {Promise<bigint>} the wei sent; 0: the fee would take everything
 */
export async function sendRest(node, vault, { to, ...how }) {
  const { address, sign } = vault.payer();
  const call = { from: address, to, value: "0x0" };
  const gas = await node.quantity("eth_estimateGas", [call]);
  const value = (await node.quantity("eth_getBalance", [address, "latest"])) - gas * how.maxFee;
  if (value <= 0n) return 0n;
  const nonce = await node.quantity("eth_getTransactionCount", [address, "pending"]);
  await sent(node, signedTransaction({ ...how, nonce, gas, to, value }, sign));
  return value;
}

/** @param {import("./node.js").Node} node @param {string} raw */
async function sent(node, raw) {
  const hash = await node.call("eth_sendRawTransaction", [raw]);
  if (hash !== hashOf(raw)) throw new NetworkError("the node names another transaction than was sent");
  return node.mined(hash);
}

/** @param {any} receipt @param {string} operationHash @returns {Sent} */
function done({ transactionHash, logs }, operationHash) {
  const found = logs.find((/** @type {any} */ { topics }) => topics[0] === EVENT && topics[1] === operationHash);
  const succeeded = found !== undefined && BigInt(`0x${found.data.slice(66, 130)}`) === 1n;
  return { transaction: transactionHash, succeeded };
}
