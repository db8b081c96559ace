/** Who pays for a user operation, and how much the account may pay. */

import { isAddress } from "./calls.js";

/** @typedef {import("../generated/types.js").UserOp} UserOp */

/**
 * Whether a paymaster pays for the operation. The zero address is not a paymaster: EntryPoint v0.7 then charges the account.
 *
 * @param {Pick<UserOp, "paymaster">} operation
 */
export function isSponsored({ paymaster }) {
  return isAddress(paymaster) && BigInt(/** @type {string} */ (paymaster)) > 0n;
}

/**
 * Returns who pays for an operation, and the most that the account may pay, in wei.
 *
 * @param {UserOp} operation
 * @returns {{sponsored: boolean, cost: bigint}}
 */
export function feeIn(operation) {
  const sponsored = isSponsored(operation);
  return { sponsored, cost: sponsored ? 0n : greatestCost(operation) };
}

/**
 * Returns an amount of the chain's coin as people write it.
 *
 * @param {bigint} wei
 */
export function ether(wei) {
  const digits = wei.toString().padStart(19, "0");
  const fraction = digits.slice(-18).replace(/0+$/, "");
  return `${digits.slice(0, -18)}${fraction && `.${fraction}`} ETH`;
}

/**
 * Returns the most that the entry point may charge the account for an operation without a paymaster (ERC-4337).
 *
 * @param {UserOp} operation
 * @returns {bigint} wei
 */
export function greatestCost({ callGasLimit, verificationGasLimit, preVerificationGas, maxFeePerGas }) {
  return (BigInt(callGasLimit) + BigInt(verificationGasLimit) + BigInt(preVerificationGas)) * BigInt(maxFeePerGas);
}

/** @typedef {{maxFeePerGas: string, maxPriorityFeePerGas: string}} Fees wei per gas, 0x-hex */

/** @type {Fees} */
export const NO_FEES = { maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0" };

/** Returns the higher of each. @param {Fees} one @param {Fees} other */
export function higherFees(one, other) {
  return eachFee(one, other, (fee, least) => (fee > least ? fee : least));
}

/**
 * Returns what `chosen` returns for each fee.
 *
 * @param {Fees} one
 * @param {Fees} other
 * @param {(fee: bigint, other: bigint) => bigint} chosen
 * @returns {Fees}
 */
export function eachFee(one, other, chosen) {
  const of = (/** @type {keyof Fees} */ name) => `0x${chosen(BigInt(one[name]), BigInt(other[name])).toString(16)}`;
  return { maxFeePerGas: of("maxFeePerGas"), maxPriorityFeePerGas: of("maxPriorityFeePerGas") };
}
